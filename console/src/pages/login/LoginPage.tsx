import { useQuery } from "@tanstack/react-query";
import { Button, Divider, Form, Input } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { getLoginOptions } from "../../api/generated/client";
import { logIn } from "../../app/session";
import { CopyableText } from "../../parts/CopyableText";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { LANGUAGES, type Language, setLanguage } from "../../words";
import { goToIssuer } from "./issuer";

/** The login page. It is shown at the requested address, and the requested page follows it. */
export function LoginPage() {
  const { t } = useTranslation("login");
  const options = useQuery({ queryKey: ["ways"], queryFn: () => getLoginOptions(), staleTime: 60_000 });
  return (
    <main className="alone" id="content">
      <div className="card">
        <h1>Horae</h1>
        {options.data?.oidc && (
          <>
            <p>
              <Button type="primary" block onClick={goToIssuer}>
                {t("issuer")}
              </Button>
            </p>
            <Divider plain>{t("or")}</Divider>
          </>
        )}
        <ApiKeyForm />
        <p className="soft">{t("noKey")}</p>
        <CopyableText text="horae key bootstrap" />
      </div>
      <Languages />
    </main>
  );
}

function ApiKeyForm() {
  const { t } = useTranslation("login");
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const send = async ({ key }: { key: string }) => {
    setBusy(true);
    setError(null);
    await logIn(key.trim())
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
      {error !== null && <ErrorMessage error={error} />}
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
    <p>
      {Object.entries(LANGUAGES).map(([key, name]) => (
        <Button
          key={key}
          type="link"
          size="small"
          lang={key}
          aria-pressed={key === i18n.language}
          onClick={() => setLanguage(key as Language)}
        >
          {name}
        </Button>
      ))}
    </p>
  );
}
