import { createRootRoute } from "@tanstack/react-router";
import { NotFoundPage } from "./NotFoundPage";
import { LoginGate } from "./shell/LoginGate";

/** The root of all routes. Without a session it shows the login page, at the same address. */
export const root = createRootRoute({ component: LoginGate, notFoundComponent: NotFoundPage });
