import { Icon } from "../shared/Icon";
import { words } from "../words/words";
import { isNumber, phoneLink } from "./reaching";
import classes from "./Emergency.module.css";

/** The number for when somebody's life is in danger now. */
export function Emergency({ number }: { number: string }) {
  return (
    <div className={classes.emergency}>
      <span>{words("care.emergency")}</span>
      {isNumber(number) ? (
        <a href={phoneLink(number)}>
          <Icon name="phone" />
          {words("care.call", { number })}
        </a>
      ) : (
        <strong>{words("care.emergency_other", { text: number })}</strong>
      )}
    </div>
  );
}
