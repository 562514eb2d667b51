import { useRouter } from "@tanstack/react-router";
import { lazy, Suspense, useEffect } from "react";
import { takeReturnAddress } from "../../pages/login/issuer";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { useMe } from "../session";
import { Shell } from "./Shell";

const LoginPage = lazy(async () => ({ default: (await import("../../pages/login/LoginPage")).LoginPage }));

/** Shows the shell with a session and the login page without one. Another tenant mounts a new shell. */
export function LoginGate() {
  const { me, error } = useMe();
  const router = useRouter();
  const loggedIn = Boolean(me);
  useEffect(() => {
    const address = loggedIn ? takeReturnAddress() : null;
    if (address) router.history.replace(address);
  }, [loggedIn, router]);
  if (me) return <Shell key={me.tenant} me={me} />;
  if (me === null)
    return (
      <Suspense>
        <LoginPage />
      </Suspense>
    );
  return error ? (
    <main className="alone">
      <ErrorMessage error={error} />
    </main>
  ) : null;
}
