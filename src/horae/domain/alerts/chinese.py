"""The words of alerts in Chinese."""

from typing import Final

from horae.domain.alerts.kinds import AlertKind, AlertSeverity
from horae.domain.alerts.messages import AlertStatus
from horae.domain.alerts.words import AlertWords

NAMES: Final = {
    AlertKind.DEAD_LETTER: "出现死信",
    AlertKind.FAILURES_IN_A_ROW: "连续失败",
    AlertKind.LATE: "迟迟未执行",
    AlertKind.MISSED: "错过触发",
    AlertKind.NO_SUCCESS: "长时间没有成功",
    AlertKind.QUEUE_UNPOLLED: "队列没有工作者领取",
    AlertKind.SOURCE_PENDING_DEAD: "来源仍待处理，Horae 已放弃",
    AlertKind.BREAKER_OPEN: "对目标的调用已暂停",
    AlertKind.SOURCE_DRIFT: "来源与 Horae 不一致",
    AlertKind.ROLLING_COVERAGE: "滚动任务覆盖不足",
    AlertKind.INTAKE_STUCK: "事件入口停滞",
    AlertKind.TRIGGER_DELAY_P95: "触发延迟过高",
    AlertKind.RUN_SUCCESS_RATE_10M: "成功率过低",
    AlertKind.RETRY_BACKLOG: "重试积压",
    AlertKind.DLQ_GROWTH_RATE: "死信增长过快",
    AlertKind.NODE_STUCK: "节点停滞",
    AlertKind.CELL_DOWN: "数据库单元失联",
    AlertKind.CLOCK_UNTRUSTED: "时钟不可信",
    AlertKind.PARTITION_MISSING: "缺少数据表分区",
    AlertKind.ARCHIVE_BEHIND: "归档落后",
    AlertKind.ERROR_BUDGET_BURNING: "错误预算消耗过快",
}
MEANINGS: Final = {
    AlertKind.DEAD_LETTER: "最后一次尝试之后仍未成功，Horae 已放弃。这项工作没有完成，需要人工回放才会再次执行。",
    AlertKind.FAILURES_IN_A_ROW: "该任务连续多次运行失败，后续运行很可能也会失败。",
    AlertKind.LATE: "触发时间已过，但第一次尝试还没有开始。",
    AlertKind.MISSED: "由于平台一侧的原因，有一次触发被跳过。这次的工作没有完成，也不会自动补上。",
    AlertKind.NO_SUCCESS: "该任务没有成功的时间已超过规则允许的时长。",
    AlertKind.QUEUE_UNPOLLED: "队列中有任务在等待，但没有工作者来领取。工作者恢复之前，队列中的任务都不会执行。",
    AlertKind.SOURCE_PENDING_DEAD: "您的系统仍在等待此业务键任务，但 Horae 已将其放弃。请回放，或在您的系统中关闭。",
    AlertKind.BREAKER_OPEN: "目标连续调用失败，或没有应答。Horae 暂停对它的调用并定期探测，目标恢复后自动继续。",
    AlertKind.SOURCE_DRIFT: "您的系统与 Horae 中的业务键任务不一致，可能有遗漏或多余。",
    AlertKind.ROLLING_COVERAGE: "该任务的部分对象没有在承诺的时间内处理到。",
    AlertKind.INTAKE_STUCK: "调度变更的消息在等待，没有被读取。新建和修改的业务键任务不会到达。",
    AlertKind.TRIGGER_DELAY_P95: "每 20 次调用中至少有 1 次的开始时间晚于上限。节点或数据库可能过载。",
    AlertKind.RUN_SUCCESS_RATE_10M: "最近 10 分钟的运行成功率低于下限。请先查看失败的目标。",
    AlertKind.RETRY_BACKLOG: "大量失败的尝试在等待重试，很可能有目标不可用或变慢。",
    AlertKind.DLQ_GROWTH_RATE: "死信的增长速度超过上限，当前有大量任务被放弃。",
    AlertKind.NODE_STUCK: "节点不再续租。在其他节点接管之前，它负责的触发会延迟。",
    AlertKind.CELL_DOWN: "一个单元的数据库没有应答。其分片上的任务既不会触发，也不能修改。",
    AlertKind.CLOCK_UNTRUSTED: "数据库的时钟向前跳变。在人工确认之前，该单元不会触发。",
    AlertKind.PARTITION_MISSING: "未来某一天的数据表分区还不存在。到那一天开始时，写入会失败。",
    AlertKind.ARCHIVE_BEHIND: "旧数据等待归档的时间超过上限，会一直占用数据库的磁盘。",
    AlertKind.ERROR_BUDGET_BURNING: "太多触发没有按时得到判定。照此速度，将达不到承诺的服务水平。",
}

WORDS: Final = AlertWords(
    names=NAMES,
    meanings=MEANINGS,
    severities={
        AlertSeverity.CRITICAL: "严重",
        AlertSeverity.WARNING: "警告",
        AlertSeverity.INFO: "提示",
    },
    statuses={
        AlertStatus.FIRING: "告警",
        AlertStatus.RESOLVED: "已恢复",
        AlertStatus.TEST: "测试",
    },
    resolved_meaning="告警条件已经消失。请确认未完成的工作是否需要补做。",
    test_meaning="这是一条测试消息，用来检查告警渠道。没有故障，无需处理。",
    colon="：",
    times="{count} 次",
    status="状态",
    job="任务",
    tenant="租户",
    owner="负责人",
    label="标签",
    reason="原因",
    meaning="含义",
    opened_at="开始时间",
    resolved_at="恢复时间",
    link="在 Horae 中打开",
    runbook="处理手册",
    id="消息 ID",
)
