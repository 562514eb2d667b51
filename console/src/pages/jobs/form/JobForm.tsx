import { Button, Form } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { ApiError, UnreachableError } from "../../../api/errors";
import type { JobView } from "../../../api/generated/models";
import { usePermission } from "../../../app/permissions";
import { ErrorMessage } from "../../../parts/ErrorMessage";
import { AccessFields } from "./AccessFields";
import { type Draft, EMPTY } from "./draft";
import { MoreFields } from "./MoreFields";
import { PeopleFields } from "./PeopleFields";
import { Preview } from "./Preview";
import { ScheduleFields } from "./ScheduleFields";
import { TargetFields } from "./TargetFields";

type Phase = "idle" | "loading" | "done" | "error";

/** The form of a job, with a preview beside it. */
export function JobForm({ initial, base, action, texts, onSubmit }: JobFormProps) {
  const { t } = useTranslation("jobs");
  const [form] = Form.useForm<Draft>();
  const [phase, setPhase] = useState<Phase>("idle");
  const [error, setError] = useState<unknown>(null);
  const [draft, setDraft] = useState(initial);
  const permission = usePermission(action);
  const submit = async () => {
    setPhase("loading");
    setError(null);
    try {
      await onSubmit({ ...EMPTY, ...form.getFieldsValue(true) });
      setPhase("done");
    } catch (caught) {
      setError(caught);
      setPhase("error");
    }
  };
  const labels = {
    idle: t(`${texts}.idle`),
    loading: t(`${texts}.loading`),
    done: t(`${texts}.done`),
    error: t(`${texts}.idle`),
  };
  return (
    <Form
      form={form}
      layout="vertical"
      initialValues={initial}
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
      <PeopleFields />
      <MoreFields />
      <AccessFields draft={draft} />
      <div>
        {error !== null && (
          <ErrorMessage error={error} title={errorTitle(error, t(`${texts}.failed`), t("create.network"))} />
        )}
        <div className="buttons">
          <Button
            htmlType="submit"
            type="primary"
            disabled={!permission.allowed || phase === "loading"}
            title={permission.reason}
          >
            {labels[phase]}
          </Button>
          {!permission.allowed && <span className="soft">{permission.reason}</span>}
        </div>
      </div>
    </Form>
  );
}

/** The title of an error: refused by the server, or no answer. */
function errorTitle(error: unknown, failed: string, network: string): string {
  if (error instanceof UnreachableError) return `${network}: ${error.message}`;
  return `${failed}: ${error instanceof ApiError || error instanceof Error ? error.message : String(error)}`;
}

interface JobFormProps {
  initial: Draft;
  base?: JobView;
  action: string;
  texts: "create" | "change";
  onSubmit: (draft: Draft) => Promise<void>;
}
