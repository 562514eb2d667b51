export default {
  label: "调度健康状况",
  starting: "初始化中",
  healthy: "调度健康",
  degraded: "进入降级：低优先级任务限速",
  cellsDown: "进入降级：单元 {{cells}} 无应答",
  failed: "拉取失败，重试第 {{failures}} 次: {{error}}",
  readOnly: "连续失败，前端降级为只读健康摘要",
  last: "上次应答 {{when}}",
};
