import type { Answers, Block, Chats, Line, Side, Unit } from "../types";
import type { Visit } from "../visit";
import { chatOf } from "../answering";
import { say } from "../words";
import { ChatView } from "./ChatView";
import { ChoiceView } from "./ChoiceView";
import { FreeView } from "./FreeView";
import { LikertView } from "./LikertView";
import { ConversationView, PersonaView, RepliesView, TextView } from "./Showing";

interface Props {
  visit: Visit;
  unit: Unit;
  block: Block;
  answers: Answers;
  chats: Chats;
  onChange: (key: string, value: string | number) => void;
  onChat: (side: Side, turns: Line[]) => void;
}

export function BlockView({ visit, unit, block, answers, chats, onChange, onChat }: Props) {
  switch (block.type) {
    case "text":
    case "situation":
      return <TextView block={block} />;
    case "conversation":
      return <ConversationView block={block} />;
    case "persona":
      return <PersonaView block={block} />;
    case "replies":
      return <RepliesView block={block} />;
    case "chat":
      return <ChatView visit={visit} unit={unit} block={block} chats={chats} answers={answers} onChange={onChange} onChat={onChat} />;
    case "likert": {
      const who = block.side && say(chatOf(unit) ? "listener_side" : "reply_side", { side: block.side });
      return <LikertView block={block} who={who} value={answers[block.key]} onChange={onChange} />;
    }
    case "choice":
    case "preference":
      return <ChoiceView block={block} answers={answers} onChange={onChange} />;
    case "free":
      return <FreeView block={block} value={String(answers[block.key] ?? "")} onChange={onChange} />;
  }
}
