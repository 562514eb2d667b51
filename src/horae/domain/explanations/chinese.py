"""The sentences of explanations in Chinese."""

from typing import Final

from horae.domain.explanations.findings import ExplainedKind, FindingCode
from horae.domain.explanations.words import ExplanationWords, Sentence
from horae.domain.instances.dead_letters import ReplayStatus
from horae.domain.instances.lifecycle import State
from horae.domain.instances.outcomes import ErrorCode, SkipReason
from horae.domain.limits.hold_reasons import HoldReason
from horae.domain.tasks.tasks import Decision, IgnoreReason
from horae.domain.tenants.tenants import TenantStatus

NAMED: Final = "{fire_time:time} 这次触发的实例 {instance}"
"""How a sentence names an instance."""
SENTENCES: Final = {
    FindingCode.TENANT_HELD: Sentence("租户 {tenant} {status:tenant}，它的任务都不会触发"),
    FindingCode.CLOCK_UNTRUSTED: Sentence(
        "单元 {cell} 的时钟跳变了 {ahead_s:span}，该单元暂不触发；确认时钟正确后执行 `horae cell trust-clock {cell}`"
    ),
    FindingCode.NOT_LEASED: Sentence(
        "没有节点持有单元 {cell} 的分片 {shard}，那里不会触发；请启动 `horae node`",
        {"node": "；节点 {node} 曾持有它到 {until:time}，现已失联"},
    ),
    FindingCode.LEASED: Sentence("节点 {node} 持有单元 {cell} 的分片 {shard}，租约到 {until:time}"),
    FindingCode.REMOVED: Sentence("任务 {job} 已被删除"),
    FindingCode.PAUSED: Sentence("任务 {job} 已暂停；执行 `horae job resume {job}` 可恢复"),
    FindingCode.SHADOW: Sentence("任务 {job} 是影子任务：只计算和比对触发时间，不执行"),
    FindingCode.COMPLETED: Sentence("任务 {job} 已完成最后一次触发"),
    FindingCode.NOT_STARTED: Sentence("任务 {job} 在 {start:time} 之前不触发"),
    FindingCode.ENDED: Sentence("任务 {job} 从 {end:time} 起不再触发"),
    FindingCode.TASK_TYPE: Sentence(
        "{job} 是业务键类型：每个业务键有自己的时间；用 `horae why {job}/KEY` 查询某个业务键"
    ),
    FindingCode.ROLLING_SET: Sentence(
        "{job} 是滚动集合：`horae subject coverage {job}` 显示哪些对象到期；用 `horae why {job}/KEY` 查询某个对象"
    ),
    FindingCode.MANUAL_ONLY: Sentence("任务 {job} 没有触发器：只能用 `horae job trigger {job}` 触发"),
    FindingCode.OVERDUE: Sentence(
        "任务 {job} 本应在 {next_fire_at:time} 触发：所属节点落后、被保护措施暂扣，或当时没有节点"
    ),
    FindingCode.NEXT_FIRE: Sentence("任务 {job} 下一次触发在 {next_fire_at:time}"),
    FindingCode.BEFORE_CREATION: Sentence(
        "任务 {job} 创建于 {created_at:time}，晚于 {fire_time:time}：在那之前没有触发"
    ),
    FindingCode.NOT_A_FIRE: Sentence(
        "任务 {job} 的调度在 {asked}（{zone}）没有触发", {"nearest": "；以下说明最近的一次：{nearest}"}
    ),
    FindingCode.EARLIER_VERSION: Sentence(
        "当时生效的是任务 {job} 的版本 {version}，自 {since:time} 起；现在是版本 {current}"
    ),
    FindingCode.MOVED: Sentence("有人把 {fire_time:time} 这次触发改到了 {to:time}"),
    FindingCode.SPREAD: Sentence("任务 {job} 的打散策略把这次触发推迟 {delay_s:span}，到 {due_at:time}"),
    FindingCode.TO_COME: Sentence("{fire_time:time} 这次触发还没到时间，到期时间是 {due_at:time}"),
    FindingCode.TO_BE_SKIPPED: Sentence(
        "{fire_time:time} 这次触发将不会执行：{reason:skip}", {"calendars": "（{calendars:list}）"}
    ),
    FindingCode.MISSING: Sentence(
        "任务 {job} 本应在 {fire_time:time} 触发，但没有对应的记录；`horae audit fires` 会报告 MISSING"
    ),
    FindingCode.NO_LONGER_KEPT: Sentence("{fire_time:time} 的触发记录已过保留期"),
    FindingCode.DECIDED: Sentence(
        "关于它的最近一次请求的结果是{decision:decision}，由 {by} 在 {on:time} 提出", {"to": "，目标时间 {to:time}"}
    ),
    FindingCode.REQUEST_IGNORED: Sentence(
        "关于它的最近一次请求被忽略，因为{reason:ignored}；由 {by} 在 {on:time} 提出"
    ),
    FindingCode.NOT_DUE: Sentence(f"{NAMED} 将在 {{due_at:time}} 到期"),
    FindingCode.RETRY_DUE: Sentence(f"{NAMED} 将在 {{due_at:time}} 重试"),
    FindingCode.OVERLAP: Sentence(
        f"{NAMED} 在等待前一次触发结束（重叠策略 {{overlap}}）",
        {"waits_for": "：{waits_for_fire_time:time} 的 {waits_for} 状态为{waits_for_state:state}"},
    ),
    FindingCode.HELD: Sentence(
        f"{NAMED} 自 {{due_at:time}} 到期，自 {{since:time}} 被扣留：{{reason:hold}}（{{gate}}）",
        {"next_try_at": "；下一次调用将在 {next_try_at:time} 尝试"},
    ),
    FindingCode.NO_WORKER: Sentence(
        f"{NAMED} 自 {{due_at:time}} 到期，在等待工作者：没有工作者轮询队列 {{queue}}",
        {"polled_at": "；最近一次轮询在 {polled_at:time}"},
    ),
    FindingCode.WAITS_FOR_WORKER: Sentence(
        f"{NAMED} 自 {{due_at:time}} 到期，在等待工作者：有 {{polling}} 个工作者轮询队列 {{queue}}，"
        "手中有 {claimed} 次尝试"
    ),
    FindingCode.WAITS_FOR_NODE: Sentence(f"{NAMED} 自 {{due_at:time}} 到期：{{reason:hold}}"),
    FindingCode.RUNNING: Sentence(
        f"{NAMED} 的第 {{attempt}} 次尝试自 {{changed_at:time}} 起正在执行",
        {
            "node": "，所在节点 {node}",
            "worker": "，执行的工作者 {worker}",
            "deadline": "；超过 {deadline:time} 视为丢失",
        },
    ),
    FindingCode.SKIPPED: Sentence(
        f"{NAMED} 没有执行：{{reason:skip}}",
        {
            "calendars": "（{calendars:list}）",
            "range_to": "；该记录代表到 {range_to:time} 为止的 {range_count} 次触发",
            "count": "；该任务至少最近 {count} 次触发都没有执行",
        },
    ),
    FindingCode.ATTEMPTS_FAILED: Sentence(f"{NAMED} 有失败的尝试，最近的在前：{{attempts:attempts}}"),
    FindingCode.DEAD_LETTER: Sentence(
        f"{NAMED} 在 {{changed_at:time}} 被放弃",
        {
            "error_code": "，错误码 {error_code}：{error_code:error}",
            "dead_letter": "；它的死信状态为 {dead_letter:letter}",
            "replay": "；执行 `horae dead-letter replay {replay}` 可再次运行",
        },
    ),
    FindingCode.SUCCEEDED: Sentence(f"{NAMED} 在 {{changed_at:time}} 成功，是第 {{attempt}} 次尝试"),
    FindingCode.CANCELLED: Sentence(f"{NAMED} 在 {{changed_at:time}} 被取消"),
    FindingCode.CREATED_LATE: Sentence(
        f"{NAMED} 的记录在到期 {{late_s:span}} 后才产生：节点在补上错过的触发，因为它落后、被保护措施暂扣，或当时不在"
    ),
    FindingCode.WAS_HELD: Sentence(f"{NAMED} 被关卡（熔断器、目标并发已满或限额）扣留了 {{held_s:span}}"),
    FindingCode.STARTED_LATE: Sentence(
        f"{NAMED} 在第一次尝试之前等待了 {{wait_s:span}}：等待节点的空闲槽位、工作者，或保护措施结束"
    ),
    FindingCode.CALLED_AGAIN: Sentence(
        f"{NAMED} 发送了 {{attempt}} 次，幂等键都是 {{idempotency_key}}："
        "投递保证至少一次，接收方按幂等键去重后只生效一次"
    ),
    FindingCode.BACKFILLED: Sentence(f"{NAMED} 由补跑或批量回放在 {{created_at:time}} 产生，幂等键与该次触发相同"),
    FindingCode.RUN_AGAIN: Sentence(f"{NAMED} 由重跑已成功触发的补跑在 {{created_at:time}} 产生，使用自己的幂等键"),
    FindingCode.REPLAYED: Sentence(f"{NAMED} 是死信的回放，在 {{created_at:time}} 产生，幂等键相同"),
    FindingCode.SUBJECT_OCCUPIED: Sentence("对象 {key} 自 {started_at:time} 起正在刷新，对应实例 {instance}"),
    FindingCode.SUBJECT_REFRESHED: Sentence("对象 {key} 最近一次成功刷新在 {last_success_at:time}"),
    FindingCode.SUBJECT_FAILED: Sentence("对象 {key} 最近一次刷新在 {finished_at:time} 结束，没有成功"),
    FindingCode.SUBJECT_NEVER_REFRESHED: Sentence("对象 {key} 自 {added_at:time} 加入集合，从未成功刷新"),
    FindingCode.SUBJECT_DUE: Sentence(
        "对象 {key} 自 {due_at:time} 到期：任务 {job} 的节拍按自己的速度先取最久未刷新的对象"
    ),
    FindingCode.SUBJECT_WAITS: Sentence("对象 {key} 在 {due_at:time} 之前不到期：{window_s:span} 内最多刷新一次"),
}
SKIP: Final = {
    SkipReason.PAUSED: "任务或租户当时处于暂停状态",
    SkipReason.MISFIRE: "触发时间已过，错过策略不补",
    SkipReason.TOO_LATE: "晚于错过策略允许补的时间",
    SkipReason.OVER_CAP: "错过的次数超过错过策略允许补的次数",
    SkipReason.OVERLAP: "前一次触发仍在执行，重叠策略跳过这一次",
    SkipReason.CALENDAR: "任务的日历排除了这一天",
    SkipReason.CALENDAR_UNKNOWN: "任务的日历没有这一年的数据",
    SkipReason.REQUESTED: "有人跳过了这一次",
    SkipReason.DST_GAP: "时钟调整跳过了这个时间，任务的策略是跳过",
    SkipReason.DECLINED: "接收方主动不处理",
    SkipReason.REFUSED: "数据库拒绝了该记录",
    SkipReason.REMOVED: "任务或业务键类型已被删除",
    SkipReason.EXPIRED: "到期后在 `expires_after` 时间内没有发出",
    SkipReason.PEAK: "节点处于高峰负载，低优先级的触发每两次略去一次",
}
HOLD: Final = {
    HoldReason.NO_SLOT: "在节点排队等待，每个进行中的调用占一个槽位",
    HoldReason.TARGET_CAP: "目标的并发调用已满",
    HoldReason.NO_ANSWER: "目标对已有的调用没有应答",
    HoldReason.RATE: "达到速率限额",
    HoldReason.CONCURRENCY: "达到并发限额",
    HoldReason.BREAKER: "调用失败后，目标的熔断器已打开",
    HoldReason.RETRY_BUDGET: "目标的重试预算已用完",
    HoldReason.MEASURE: "保护措施暂扣了这个优先级的调用",
}
ERROR: Final = {
    ErrorCode.TIMEOUT: "没有及时得到应答",
    ErrorCode.CONNECT: "无法连接目标",
    ErrorCode.TLS: "与目标的 TLS 连接失败",
    ErrorCode.PROTOCOL: "应答不是 HTTP",
    ErrorCode.HTTP_408: "目标应答请求超时",
    ErrorCode.HTTP_425: "目标应答为时过早",
    ErrorCode.HTTP_429: "目标应答请求过多",
    ErrorCode.HTTP_5XX: "目标应答自身出错",
    ErrorCode.HTTP_4XX: "目标拒绝了请求，重试无用",
    ErrorCode.REDIRECT: "目标应答重定向，不会跟随",
    ErrorCode.HANDLER: "工作者报告失败",
    ErrorCode.REFUSED: "调用或其结果的记录被拒绝",
    ErrorCode.CRASH_LOOP: "有三个工作者领取后失联",
    ErrorCode.NO_TARGET: "目标无法调用",
    ErrorCode.NO_SECRET: "目标引用的具名密钥不存在或不可用",
    ErrorCode.UNSENDABLE: "模板生成了请求无法携带的内容",
    ErrorCode.SEALED: "载荷或具名密钥无法解密",
    ErrorCode.EXPIRED: "等待时间超过 `expires_after`",
}

WORDS: Final = ExplanationWords(
    sentences=SENTENCES,
    skip=SKIP,
    hold=HOLD,
    error=ERROR,
    decision={
        Decision.CREATED: "新建",
        Decision.MOVED: "改期",
        Decision.REPLACED: "替换（原实例正在执行）",
        Decision.IGNORED: "忽略",
        Decision.CANCELLED: "取消",
    },
    ignored={
        IgnoreReason.SUCCEEDED: "该业务键已成功，其类型不允许重新打开",
        IgnoreReason.STALE: "它的版本不比已知的版本新",
        IgnoreReason.NOT_LIVE: "没有可取消的业务键任务",
    },
    tenant={
        TenantStatus.ACTIVE: "正常",
        TenantStatus.PAUSED: "已暂停（执行 `horae tenant resume` 可恢复）",
        TenantStatus.REMOVED: "已被删除",
    },
    letter={
        ReplayStatus.NEW: "NEW（尚未处理）",
        ReplayStatus.REPLAYING: "REPLAYING（正在回放）",
        ReplayStatus.REPLAYED: "REPLAYED（回放已生效或被接收方谢绝）",
        ReplayStatus.DEAD_AGAIN: "DEAD_AGAIN（回放后再次被放弃）",
        ReplayStatus.DISCARDED: "DISCARDED（已人工丢弃）",
    },
    state={
        State.INIT: "等待（INIT）",
        State.BLOCKED: "等待前一次触发（BLOCKED）",
        State.RUNNING: "执行中（RUNNING）",
        State.FAIL: "等待重试（FAIL）",
        State.SUCCESS: "成功（SUCCESS）",
        State.DEAD: "已放弃（DEAD）",
        State.CANCELLED: "已取消（CANCELLED）",
        State.SKIPPED: "已跳过（SKIPPED）",
    },
    kinds={
        ExplainedKind.JOB: "任务",
        ExplainedKind.FIRE: "触发",
        ExplainedKind.TASK: "业务键",
        ExplainedKind.SUBJECT: "对象",
        ExplainedKind.INSTANCE: "实例",
    },
    heading="{kind} {subject}，{at}：",
    attempt="第 {attempt} 次尝试 {code}{status}：{meaning}",
    attempt_status="（状态码 {status}）",
    comma="，",
    unknown="{value}",
)
