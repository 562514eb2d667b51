/** 一次执行的日志、结果与进度的文字。 */
export default {
  title: "日志",
  follow: "跟随新行",
  live: "实时，目前 {{count}} 行",
  ended: "共 {{count}} 行",
  waiting: "实时，还没有日志行",
  none: "没有日志行。日志行只保留数天；调用 URL 的执行只有在目标返回日志行时才有。",
  broken: "日志流已中断。",
  notPermitted: "日志行可能含有业务数据：读取需要 payloads.read 权限。",
  attempt: "第 {{number}} 次尝试",
  dropped: "此处有 {{count}} 行较早的日志被丢弃：每次尝试只保留最后 1 MiB。",
  droppedHere: "本页丢弃了 {{count}} 行较早的日志；用 horae logs 查看全部。",
  progress: "进度",
  answersHidden: "目标的响应已隐藏：读取需要 payloads.read 权限。",
  until: "至",
  result: {
    title: "结果",
    none: "这次执行没有返回结果。",
    gone: "结果已不再保留。",
    later: "执行结束后显示结果。",
    notPermitted: "结果可能含有业务数据：读取需要 payloads.read 权限。",
  },
};
