export default {
  title: "演练",
  about:
    "演练会故意制造故障，测量多久恢复正常，再执行恢复步骤。用 `horae drill` 运行；签名报告保存在执行演练的主机上。",
  columns: {
    kind: "演练",
    result: "结果",
    rto: "RTO",
    rpo: "RPO",
    reason: "原因与操作",
    beganAt: "开始",
    brokenAt: "故障",
    restoredAt: "恢复步骤",
  },
  kinds: {
    "node-loss": "节点丢失",
    "primary-loss": "主库丢失",
    "outage-of-targets": "目标中断",
    restore: "备份恢复",
    "cell-loss": "单元丢失",
  },
  passed: "通过",
  failed: "未通过",
  target: "目标 {{time}}",
  notReached: "未达到",
  notKnown: "未知",
  charts: {
    rto_s: { title: "RTO 变化", summary: "显示 {{drills}} 次演练，最长 RTO 为 {{maximum}}。" },
    rpo_s: { title: "RPO 变化", summary: "显示 {{drills}} 次演练，最长 RPO 为 {{maximum}}。" },
  },
  empty: { title: "还没有完成的演练", help: "每种演练每月在预发布环境运行一次：" },
};
