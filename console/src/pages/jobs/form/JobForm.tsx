import { Button, Form } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { JobView } from "../../../api/generated/models";
import { Refused, Unreachable } from "../../../api/trouble";
import { useCan } from "../../../app/can";
import { Trouble } from "../../../parts/Trouble";
import { AccessFields } from "./AccessFields";
import { type Draft, EMPTY } from "./draft";
import { MoreFields } from "./MoreFields";
import { Preview } from "./Preview";
import { ScheduleFields } from "./ScheduleFields";
import { TargetFields } from "./TargetFields";

type Phase = "idle" | "loading" | "done" | "error";

/** The form of a job, with what it means beside it. `send` is told what was written and says when it is done. */
export function JobForm({ start, base, action, word, send }: JobFormProps) {
  const { t } = useTranslation("jobs");
  const [form] = Form.useForm<Draft>();
  const [phase, setPhase] = useState<Phase>("idle");
  const [error, setError] = useState<unknown>(null);
  const [draft, setDraft] = useState(start);
  const can = useCan(action);
  const submit = async () => {
    setPhase("loading");
    setError(null);
    try {
      await send({ ...EMPTY, ...form.getFieldsValue(true) });
      setPhase("done");
    } catch (caught) {
      setError(caught);
      setPhase("error");
    }
  };
  const words = {
    idle: t(`${word}.idle`),
    loading: t(`${word}.loading`),
    done: t(`${word}.done`),
    error: t(`${word}.idle`),
  };
  return (
    <Form
      form={form}
      layout="vertical"
      initialValues={start}
      onFinish={submit}
      onValuesChange={(_, all) => setDraft({ ...draft, ...all })}
      className="job-form"
      scrollToFirstError
    >
      <ScheduleFields draft={draft} named={base !== undefined} />
      <div className="preview">
        <Preview draft={draft} base={base} />
      </div>
      <TargetFields draft={draft} />
      <MoreFields />
      <AccessFields draft={draft} />
      <div>
        {error !== null && (
          <Trouble error={error} title={useless(error, t(`${word}.failed`), t("create.network"))} />
        )}
        <div className="buttons">
          <Button
            htmlType="submit"
            type="primary"
            disabled={!can.allowed || phase === "loading"}
            title={can.reason}
          >
            {words[phase]}
          </Button>
          {!can.allowed && <span className="soft">{can.reason}</span>}
        </div>
      </div>
    </Form>
  );
}

/** The sentence of a failure: refused, or nobody answered. */
function useless(error: unknown, failed: string, network: string): string {
  if (error instanceof Unreachable) return `${network}: ${error.message}`;
  return `${failed}: ${error instanceof Refused || error instanceof Error ? error.message : String(error)}`;
}

interface JobFormProps {
  start: Draft;
  base?: JobView;
  action: string;
  word: "create" | "change";
  send: (draft: Draft) => Promise<void>;
}
