import { Drawer } from "@mantine/core";
import { useIsPhone } from "../layout/useIsPhone";
import { words } from "../words/words";
import { WhyContent } from "./WhyContent";
import type { WhyProps } from "./WhyPanel";
import classes from "./WhyPanel.module.css";

/** The reasons where there is no room beside the conversation: from below on a phone, from the side elsewhere. */
export function WhySheet({ opened, ...props }: WhyProps & { opened: boolean }) {
  const phone = useIsPhone();
  return (
    <Drawer
      opened={opened}
      onClose={props.onClose}
      position={phone ? "bottom" : "right"}
      size={phone ? "86%" : "min(26rem, 90vw)"}
      title={words("why.title")}
      classNames={{
        content: phone ? `${classes.sheet} ${classes.fromBelow}` : classes.sheet,
        header: classes.sheetHead,
        title: classes.sheetTitle,
        body: classes.sheetBody,
      }}
      closeButtonProps={{ "aria-label": words("why.close") }}
    >
      <WhyContent {...props} />
    </Drawer>
  );
}
