from datetime import timedelta
from horae.domain.jobs import Definition
from horae.domain.targets import HttpTarget
from horae.domain.triggers import cron, KeyedTrigger
from horae.service import jobs, tasks
async def test_smoke(ctx):
    j = await jobs.create(ctx, "a", Definition(trigger=cron("* * * * *"), target=HttpTarget("http://127.0.0.1:1/")))
    print(j)
    await jobs.pause(ctx, "a"); await jobs.resume(ctx, "a")
    await jobs.create(ctx, "T", Definition(trigger=KeyedTrigger(), target=HttpTarget("http://127.0.0.1:1/")))
    a=await tasks.schedule(ctx, "T", "42"); print(a)
    a=await tasks.schedule(ctx, "T", "42"); print(a)
    a=await tasks.cancel(ctx, "T", "42"); print(a)
    print(await tasks.show(ctx, "T","42"))
