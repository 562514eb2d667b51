export default {
  title: "审计日志",
  about: "任务定义、权限与人的决定，最新的在前，保留 180 天并封存。关于任务时间的决定在其业务键的台账中。",
  none: "没有符合条件的记录。",
  show: "查看",
  reload: "刷新",
  since: "起始（本地时间）",
  until: "截止（本地时间）",
  clear: "清除筛选",
  columns: { at: "时间", actor: "操作者", action: "操作", resource: "对象", detail: "详情" },
  seal: {
    title: "封存进度",
    cell: "单元",
    block: "区块数",
    at: "最近封存",
    hash: "最后区块的哈希",
  },
  empty: {
    title: "还没有任何操作",
    help: "第一个任务定义、密钥或角色会在这里留下第一行。",
  },
};
