export default {
  title: "审计日志",
  about:
    "任务定义与权限的变更，以及人工操作，最新的在前；保留 180 天，并以哈希链相连。关于任务时间的决策见其业务键的账本。",
  none: "没有符合条件的记录。",
  show: "查看",
  reload: "刷新",
  since: "起始（本地时间）",
  until: "截止（本地时间）",
  clear: "清除筛选",
  columns: { at: "时间", actor: "操作者", action: "操作", resource: "对象", detail: "详情" },
  chain: {
    title: "哈希链",
    cell: "单元",
    block: "区块数",
    at: "最近新增区块",
    hash: "最后区块的哈希",
  },
  empty: {
    title: "还没有记录",
    help: "第一个任务定义、密钥或角色会产生第一条记录。",
  },
};
