export default {
  label: "调度健康状况",
  starting: "初始化中",
  healthy: "调度健康",
  degraded: "已降级：95 % 的触发在 {{delay}} 内开始（上限 {{limit}}）",
  cellsDown: "已降级：单元 {{cells}} 无应答",
  failed: "拉取失败，重试第 {{failures}} 次: {{error}}",
  readOnly: "连续失败，前端降级为只读健康摘要",
  last: "上次应答 {{when}}",
};
