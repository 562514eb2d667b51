import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { AutoComplete, Button, Form, Input } from "antd";
import { useEffect } from "react";
import { useTranslation } from "react-i18next";
import type { InstanceView } from "../../api/generated/models";
import { EmptyState } from "../../parts/EmptyState";
import { MAX_PAGE_SIZE } from "../../parts/list/export";
import { Card, Page } from "../../parts/Page";
import { PagedTable } from "../../parts/PagedTable";
import { useColumns } from "../instances/columns";
import { readInstances, useInstances } from "../instances/InstancesPage";
import { useTaskTypes } from "./useTaskTypes";
import "./ledger.css";

const route = getRouteApi("/tasks");

/** Opens a business key of a task type, and lists the latest tasks of the type. */
export function TasksPage() {
  const { t } = useTranslation("tasks");
  const { type } = route.useSearch();
  const types = useTaskTypes();
  const first = types.data?.[0]?.name;
  const chosen = type ?? first;
  return (
    <Page title={t("title")}>
      <p className="soft">{t("about")}</p>
      <Card title={t("find.title")}>
        <FindTaskForm type={chosen} types={types.data?.map((job) => job.name) ?? []} />
      </Card>
      {chosen && <LatestTasks type={chosen} />}
      {types.data && !chosen && (
        <EmptyState
          title={t("empty.title")}
          help={t("empty.help")}
          line="horae job create ARTICLE_PUBLISH --keyed --url https://articles.example.com/publish"
        />
      )}
    </Page>
  );
}

function FindTaskForm({ type, types }: { type: string | undefined; types: string[] }) {
  const { t } = useTranslation("tasks");
  const navigate = useNavigate();
  const [form] = Form.useForm();
  useEffect(() => {
    if (!form.getFieldValue("type")) form.setFieldValue("type", type); // the type is loaded after the form is shown
  }, [form, type]);
  return (
    <Form
      form={form}
      layout="inline"
      requiredMark={false}
      colon={false}
      className="find"
      onFinish={({ type, key }) => void navigate({ to: "/tasks/$type/$key", params: { type, key } })}
    >
      <Form.Item name="type" label={t("find.type")} rules={[{ required: true, message: t("find.needType") }]}>
        <AutoComplete
          options={types.map((value) => ({ value }))}
          className="short"
          filterOption
          onSelect={(chosen: string) => void navigate({ to: "/tasks", search: { type: chosen } })}
        />
      </Form.Item>
      <Form.Item name="key" label={t("find.key")} rules={[{ required: true, message: t("find.needKey") }]}>
        <Input autoComplete="off" maxLength={200} />
      </Form.Item>
      <Button type="primary" htmlType="submit">
        {t("find.open")}
      </Button>
    </Form>
  );
}

function LatestTasks({ type }: { type: string }) {
  const { t } = useTranslation("tasks");
  const { cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const columns = useColumns(false);
  const [fired, key, ...rest] = columns;
  return (
    <Card title={t("latest", { type })}>
      <PagedTable<InstanceView>
        list="tasks"
        read={(from, signal) => readInstances({ job: type, cursor: from }, MAX_PAGE_SIZE, signal)}
        query={useInstances({ job: type, cursor }, 25)}
        caption={t("latest", { type })}
        columns={key && fired ? [key, fired, ...rest] : columns}
        id={(one) => one.id}
        cursor={cursor}
        onCursor={(next) => void navigate({ search: { type, cursor: next } })}
        empty={<p className="soft">{t("noTasks")}</p>}
      />
    </Card>
  );
}
