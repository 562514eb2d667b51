"""The third party that audits: a program of somebody else's, now slow, now failing. `uvicorn articles.auditor:app`

AUDITOR_FAILS and AUDITOR_SLOW say how often, as a share; AUDITOR_SLOW_SECONDS how slow. It rejects what holds the word
"forbidden".
"""

import asyncio
import os
import random

from fastapi import FastAPI, HTTPException
from pydantic import BaseModel

FAILS = float(os.environ.get("AUDITOR_FAILS", "0.05"))
SLOW = float(os.environ.get("AUDITOR_SLOW", "0.1"))
SLOW_SECONDS = float(os.environ.get("AUDITOR_SLOW_SECONDS", "1.5"))

app = FastAPI(title="Auditor")


class Text(BaseModel):
    """What is to be audited."""

    title: str
    body: str


@app.post("/audits")
async def audit(text: Text) -> dict[str, bool]:
    """Whether a text may be published."""
    await asyncio.sleep(random.uniform(0.02, 0.2) if random.random() > SLOW else random.uniform(0.5, SLOW_SECONDS))
    if random.random() < FAILS:
        raise HTTPException(500, "the auditor has a bad day")
    return {"passed": "forbidden" not in text.body}
