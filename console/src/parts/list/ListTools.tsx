import { useLocation, useNavigate } from "@tanstack/react-router";
import { Button, Dropdown, Input, type MenuProps, Modal } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { Column } from "../DataTable";
import { columnId, visibleColumns } from "./chosen-columns";
import { ExportDialog } from "./ExportDialog";
import type { Format, ReadPage } from "./export";
import { type Filters, filtersOf, useViews, withView } from "./views";

/** The tools of a list: which columns are shown, saved views, and the export of what is listed. */
export function ListTools<Item>({ list, columns, chosen, onChoose, read }: ListToolsProps<Item>) {
  const { t } = useTranslation("lists");
  const [format, setFormat] = useState<Format | null>(null);
  return (
    <div className="list-tools">
      <Views list={list} />
      <ColumnMenu columns={columns} chosen={chosen} onChoose={onChoose} />
      {read && (
        <Dropdown
          trigger={["click"]}
          menu={{
            items: (["csv", "json"] as const).map((key) => ({ key, label: t(`export.${key}`) })),
            onClick: ({ key }) => setFormat(key as Format),
          }}
        >
          <Button size="small">{t("export.verb")}</Button>
        </Dropdown>
      )}
      {read && format && (
        <ExportDialog list={list} format={format} read={read} onClose={() => setFormat(null)} />
      )}
    </div>
  );
}

interface ListToolsProps<Item> {
  list: string;
  columns: Column<Item>[];
  chosen: string[] | null;
  onChoose: (ids: string[] | null) => void;
  read: ReadPage | undefined;
}

function ColumnMenu<Item>({
  columns,
  chosen,
  onChoose,
}: Pick<ListToolsProps<Item>, "columns" | "chosen" | "onChoose">) {
  const { t } = useTranslation("lists");
  const [open, setOpen] = useState(false);
  const selectedKeys = visibleColumns(columns, chosen).map(columnId);
  const items: MenuProps["items"] = [
    ...columns.map((column) => ({ key: columnId(column), label: column.title })),
    { type: "divider" },
    { key: RESET, label: t("columns.reset") },
  ];
  const toggle = (key: string) =>
    selectedKeys.includes(key) ? selectedKeys.filter((one) => one !== key) : [...selectedKeys, key];
  return (
    <Dropdown
      trigger={["click"]}
      open={open}
      onOpenChange={(next, { source }) => (source === "trigger" || next) && setOpen(next)}
      menu={{
        items,
        selectable: true,
        multiple: true,
        selectedKeys,
        onClick: ({ key }) => onChoose(key === RESET ? null : toggle(key)),
      }}
    >
      <Button size="small">{t("columns.verb")}</Button>
    </Dropdown>
  );
}

const RESET = "…reset";
const SAVE = "…save";
const REMOVE = "…remove ";

function Views({ list }: { list: string }) {
  const { t } = useTranslation(["lists", "frame"]);
  const [views, save] = useViews(list);
  const [isNaming, setNaming] = useState(false);
  const { pathname, search } = useLocation();
  const navigate = useNavigate();
  const items: MenuProps["items"] = [
    ...views.map((view) => ({ key: view.name, label: view.name })),
    ...(views.length > 0 ? [{ type: "divider" as const }] : []),
    { key: SAVE, label: t("views.save") },
    ...views.map((view) => ({ key: REMOVE + view.name, label: t("views.remove", { name: view.name }) })),
  ];
  const onClick: MenuProps["onClick"] = ({ key }) => {
    const view = views.find((one) => one.name === key);
    if (key === SAVE) setNaming(true);
    else if (key.startsWith(REMOVE)) save(views.filter((one) => REMOVE + one.name !== key));
    else if (view) void navigate({ to: pathname, search: view.filters as never });
  };
  return (
    <>
      <Dropdown trigger={["click"]} menu={{ items, onClick }}>
        <Button size="small">{t("views.verb")}</Button>
      </Dropdown>
      {isNaming && (
        <SaveViewDialog
          filters={filtersOf(search as Filters)}
          onSave={(name, filters) => save(withView(views, { name, filters }))}
          onClose={() => setNaming(false)}
        />
      )}
    </>
  );
}

function SaveViewDialog({ filters, onSave, onClose }: SaveViewDialogProps) {
  const { t } = useTranslation(["lists", "frame"]);
  const [name, setName] = useState("");
  const text = Object.entries(filters).map(([key, value]) => `${key}: ${[value].flat().join(", ")}`);
  const save = () => {
    if (name.trim() === "") return;
    onSave(name.trim(), filters);
    onClose();
  };
  return (
    <Modal
      open
      title={t("views.save")}
      okText={t("views.saveVerb")}
      cancelText={t("frame:cancel")}
      okButtonProps={{ disabled: name.trim() === "" }}
      onOk={save}
      onCancel={onClose}
      destroyOnHidden
    >
      <p>{t("views.about")}</p>
      <p className="soft">{text.join(" · ") || t("views.noFilters")}</p>
      <Input
        autoFocus
        aria-label={t("views.name")}
        placeholder={t("views.name")}
        maxLength={60}
        value={name}
        onChange={(event) => setName(event.target.value)}
        onPressEnter={save}
      />
    </Modal>
  );
}

interface SaveViewDialogProps {
  filters: Filters;
  onSave: (name: string, filters: Filters) => void;
  onClose: () => void;
}
