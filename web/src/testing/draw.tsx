import { MantineProvider } from "@mantine/core";
import { render } from "@testing-library/react";
import type { ReactNode } from "react";
import { theme } from "../theme/theme";

/** Draw a component as the page would. */
export function draw(element: ReactNode) {
  return render(
    <MantineProvider theme={theme} env="test">
      {element}
    </MantineProvider>,
  );
}
