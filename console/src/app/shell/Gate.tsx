import { useRouter } from "@tanstack/react-router";
import { lazy, Suspense, useEffect } from "react";
import { backFromIssuer } from "../../pages/login/issuer";
import { Trouble } from "../../parts/Trouble";
import { useMe } from "../session";
import { Shell } from "./Shell";

const LoginPage = lazy(async () => ({ default: (await import("../../pages/login/LoginPage")).LoginPage }));

/** The shell for who is known, the login for who is not. A change of tenant builds the shell anew. */
export function Gate() {
  const { me, error } = useMe();
  const router = useRouter();
  const known = Boolean(me);
  useEffect(() => {
    const asked = known ? backFromIssuer() : null;
    if (asked) router.history.replace(asked);
  }, [known, router]);
  if (me) return <Shell key={me.tenant} me={me} />;
  if (me === null)
    return (
      <Suspense>
        <LoginPage />
      </Suspense>
    );
  return error ? (
    <main className="alone">
      <Trouble error={error} />
    </main>
  ) : null;
}
