import { useQuery } from "@tanstack/react-query";
import { Button, Divider, Form, Input } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { getLoginWays } from "../../api/generated/client";
import { enter } from "../../app/session";
import { Line } from "../../parts/Line";
import { Trouble } from "../../parts/Trouble";
import { LANGUAGES, type Language, speak } from "../../words";
import { goToIssuer } from "./issuer";

/** How people come in. It stands at whatever address was asked for, and makes way for that page. */
export function LoginPage() {
  const { t } = useTranslation("login");
  const ways = useQuery({ queryKey: ["ways"], queryFn: () => getLoginWays(), staleTime: 60_000 });
  return (
    <main className="alone" id="content">
      <div className="card">
        <h1>Horae</h1>
        {ways.data?.oidc && (
          <>
            <p>
              <Button type="primary" block onClick={goToIssuer}>
                {t("issuer")}
              </Button>
            </p>
            <Divider plain>{t("or")}</Divider>
          </>
        )}
        <WithKey />
        <p className="soft">{t("noKey")}</p>
        <Line text="horae keys bootstrap" />
      </div>
      <Languages />
    </main>
  );
}

function WithKey() {
  const { t } = useTranslation("login");
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const send = async ({ key }: { key: string }) => {
    setBusy(true);
    setError(null);
    await enter(key.trim())
      .catch(setError)
      .finally(() => setBusy(false));
  };
  return (
    <Form layout="vertical" onFinish={send} requiredMark={false}>
      <Form.Item
        name="key"
        label={t("key")}
        extra={t("keyHelp")}
        rules={[{ required: true, message: t("need") }]}
      >
        <Input.Password autoComplete="off" visibilityToggle={false} autoFocus />
      </Form.Item>
      {error !== null && <Trouble error={error} />}
      <Form.Item>
        <Button htmlType="submit" type="primary" disabled={busy} block>
          {busy ? t("entering") : t("enter")}
        </Button>
      </Form.Item>
    </Form>
  );
}

function Languages() {
  const { i18n } = useTranslation("frame");
  return (
    <p className="languages">
      {Object.entries(LANGUAGES).map(([key, name]) => (
        <Button
          key={key}
          type="link"
          size="small"
          lang={key}
          aria-pressed={key === i18n.language}
          onClick={() => speak(key as Language)}
        >
          {name}
        </Button>
      ))}
    </p>
  );
}
