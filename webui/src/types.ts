// The server's JSON; docs/reference/http.md explains every field.

export type State = "idle" | "running" | "waiting" | "stopped";
export type DeliveryMode = "sequential" | "important" | "urgent";
export type Origin = "user" | "recall" | "automation" | "agent" | "reminder" | "answer";
export type Json = Record<string, unknown>;
/** Why a person should look at a session: it waits for them, failed, finished, or wrote something new. */
export type Attention = "waiting" | "failed" | "finished" | "unread";

export interface Recall {
  id: string;
  session_id: string;
  call_type: "once" | "recurring" | "immediate";
  trigger_at: string;
  due_at: string;
  interval_seconds: number | null;
  internal_comment: string | null;
  additional_context_message: string;
  /** A recurring recall may be pending again while its last turn runs. */
  status: "pending" | "running" | "fired" | "cancelled";
  /** The input of its latest turn. */
  input_id?: string | null;
  /** How its latest turn ended, or why it never had one. */
  outcome: Outcome | "cancelled" | "replaced" | null;
  error: string | null;
  missed_count: number;
  created_at: string;
  updated_at: string;
}

export interface Session {
  id: string;
  /** A handle for `sm`. */
  name: string;
  /** The title for people. */
  title: string;
  driver: string;
  model: string | null;
  program: string | null;
  cwd: string;
  parent_id: string | null;
  state: State;
  task: string | null;
  agent_status_text: string | null;
  agent_status_at: string | null;
  created_at: string;
  updated_at: string;
  pending_recall: Recall | null;
  /** How its last turn ended. */
  last_outcome: Outcome | null;
  /** Until when its inputs wait for a usage limit. */
  limit_until: string | null;
  /** Whether a person has not yet seen the output of its last turn. */
  unread: boolean;
  pinned: boolean;
  archived: boolean;
  attention: Attention | null;
  /** Its oldest open question. */
  waiting_for: string | null;
  /** Why its inputs wait for a budget, and until when, if not for a person. */
  paused: { budget: string; reason: string; until: string | null } | null;
}

/** The budget of a session, an automation or a user's day. */
export interface Budget {
  scope: "session" | "automation" | "user";
  owner_id: string;
  per: string;
  tokens: number | null;
  dollars: number | null;
  used_words: string;
}

export type Decision = "allow" | "allow_always" | "deny" | "choose" | "reply";

export interface QuestionAnswer {
  decision: Decision;
  text: string | null;
  choices: string[];
  updated_input: Json | null;
}

/** What an agent asks a person. */
export interface Question {
  id: string;
  session_id: string;
  /** The agent's id for the call that asks. */
  call_id: string;
  kind: "permission" | "choice" | "plan" | "text";
  title: string;
  detail: string;
  tool_name: string | null;
  tool_input: Json | null;
  risk: "low" | "unknown" | "high" | null;
  risk_reason: string | null;
  options: { label: string; description: string }[];
  allow_free_text: boolean;
  allow_several: boolean;
  takes_updated_input: boolean;
  /** The rules that the agent suggests for "always allow". */
  suggestions: Json[];
  state: "open" | "answered" | "withdrawn" | "expired";
  answer: QuestionAnswer | null;
  answered_by: string | null;
  answered_via: string | null;
  /** When `default` becomes the answer. */
  deadline_at: string | null;
  default: QuestionAnswer;
  created_at: string;
  answered_at: string | null;
}

export interface ToolCall {
  id: string;
  name: string;
  arguments: Json;
  result: string | null;
  is_error: boolean;
}

export interface Message {
  id: string;
  idx: number;
  role: "user" | "assistant" | "system";
  content: string;
  thinking: string;
  tool_calls: ToolCall[];
  is_recall: boolean;
  source: Origin;
  metadata: Json;
  timestamp: string;
}

export interface Input {
  id: string;
  session_id: string;
  text: string;
  delivery_mode: DeliveryMode;
  origin: Origin;
  sender_session_id: string | null;
  metadata: Json;
  queued_at: string;
  /** The order of admission within the session. */
  ordinal?: number;
  /** The instant before which it is not delivered. */
  not_before?: string | null;
  delivered_at: string | null;
  turn_id: string | null;
}

export interface Snapshot {
  session: Session;
  messages: Message[];
  queue: Input[];
  after: number;
}

interface Numbered {
  session_id: string;
  seq: number;
  turn_id: string | null;
  position: number;
  at: string;
}

export type Outcome = "ok" | "denied" | "error" | "stopped" | "max_iterations" | "limit";

export type Event = Numbered &
  (
    | { type: "input_queued" | "input_delivered"; input: Input }
    | { type: "input_removed"; input_id: string }
    | { type: "stream_start"; origin: Origin; is_recall: boolean; attention: Attention | null }
    | { type: "thinking_delta" | "stream_delta"; delta: string }
    | { type: "tool_started"; tool_call_id: string; name: string; arguments: Json }
    | {
        type: "tool_call";
        tool_call_id: string;
        name: string;
        arguments: Json;
        result: string;
        is_error: boolean;
      }
    | { type: "history_compacted"; summary: string; up_to_idx: number }
    | { type: "stream_end"; outcome: Outcome; message_id: string | null; error: string | null }
    | { type: "session_sync"; session: Session }
    | { type: "session_update"; session: Session; deleted?: boolean }
    | { type: "recall_update"; recall: Recall | null }
    | { type: "automation_update"; automation: Automation | null; automation_id: string }
    | { type: "message_added"; message: Message }
    | { type: "question_update"; question: Question }
  );

/** How fresh the search index is. */
export interface IndexState {
  refreshed_at: string | null;
  /** Whether new messages become searchable automatically. */
  is_following: boolean;
  problem: { message: string; hint: string } | null;
  /** Whether searches also use meaning. Only the answer of GET /index has this field. */
  meaning?: Meaning;
}

export interface Meaning {
  is_ready: boolean;
  problem: { message: string; hint: string } | null;
  pending_sessions: number;
}

/** A frame about the server rather than a session: it has no number and is not resent. */
export interface IndexRefreshed {
  type: "index_refreshed";
  index: IndexState;
}

export interface Schedule {
  kind: "at" | "every" | "cron";
  at: string | null;
  every_seconds: number | null;
  cron_expr: string | null;
  tz: string | null;
}

export interface Automation {
  id: string;
  name: string;
  session_key: string | null;
  schedule: Schedule;
  schedule_words: string;
  message: string;
  enabled: boolean;
  ended: "done" | "expired" | "failed" | "session_ended" | null;
  /** The state of the current run. */
  active_run_state?: "queued" | "running" | null;
  catch_up: "once" | "skip" | "all";
  next_run_at: string | null;
  last_run_at: string | null;
  last_status: Outcome | "cancelled" | null;
  last_error: string | null;
  run_count: number;
  missed_count: number;
  created_at: string;
}

export interface Run {
  id: string;
  state: "queued" | "running" | "turn_completed" | "failed" | "missed" | "cancelled";
  due_at: string;
  started_at: string | null;
  ended_at: string | null;
  rendered_prompt: string | null;
  /** How its turn ended. */
  outcome?: Outcome | null;
  error: string | null;
  missed_count: number;
}
