import { createRootRoute } from "@tanstack/react-router";
import { Lost } from "./Lost";
import { Gate } from "./shell/Gate";

/** The root of all routes: who is not logged in sees the login instead, at the same address. */
export const root = createRootRoute({ component: Gate, notFoundComponent: Lost });
