import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { queries } from "./queries";
import { router } from "./router";
import { Dress } from "./theme/Dress";

export function App() {
  return (
    <Dress>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </Dress>
  );
}
