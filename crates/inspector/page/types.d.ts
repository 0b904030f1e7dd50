// Types shared by the page's modules: JSON values, schemas, the binary's messages, and elements.

type Digits = import("./assets/json.js").Digits;
/** A JSON value as returned by `parse`. */
type Json = string | number | boolean | null | Digits | Json[] | JsonObject;
/** A JSON object. A member that is `undefined` is left out. */
interface JsonObject {
  [name: string]: Json | undefined;
}
/** A JSON value, or `undefined` for a field that is left out. */
type Field = Json | undefined;

/** The members of a JSON Schema that the page reads. `resolve` removes members of other types. */
interface Schema {
  $ref?: string;
  $anchor?: string;
  $id?: string;
  $defs?: Record<string, Schema>;
  definitions?: Record<string, Schema>;
  type?: string | string[];
  title?: string;
  description?: string;
  default?: Json;
  const?: Json;
  enum?: Json[];
  enumNames?: (string | undefined)[];
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  not?: Schema;
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  required?: string[];
  minProperties?: number;
  maxProperties?: number;
  items?: Schema;
  prefixItems?: Schema[];
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
  contentMediaType?: string;
  writeOnly?: boolean;
  minimum?: number | Digits;
  maximum?: number | Digits;
  exclusiveMinimum?: number | Digits;
  exclusiveMaximum?: number | Digits;
  multipleOf?: number;
}
interface Choice {
  value: Field;
  label: string;
}
interface Variant {
  schema: Schema;
  label: string;
  /** The unresolved schema from the union. */
  of: Schema;
}
/** The kind of field that a schema asks for. */
type Kind =
  | { kind: "enum"; schema: Schema; options: Choice[] }
  | { kind: "nullable"; schema: Schema; inner: Schema }
  | { kind: "union"; schema: Schema; variants: Variant[] }
  | { kind: PlainKind; schema: Schema };
type PlainKind = "const" | "object" | "map" | "array" | "string" | "number" | "integer" | "boolean" | "null" | "any";
/** A problem with the value at a path, which is a JSON pointer. */
interface Problem {
  path: string;
  message: string;
  /** Whether a value is missing. That is shown only when the user tries to send the form. */
  isMissing?: boolean;
}
/** Asks the server to complete the value of an argument. */
type Complete = (name: string, value: string) => Promise<string[]>;

/** An error reported by the binary. */
interface Failure {
  who?: string;
  code?: number | null;
  message: string;
  causes?: string[];
  hint?: string | null;
  /** The `data` of a JSON-RPC error. */
  data?: Json;
}
interface ServerInfo {
  name?: string;
  title?: string;
  version?: string;
  description?: string;
  websiteUrl?: string;
  icons?: { src?: string }[];
}
/** A value that a config file asks for. */
interface Input {
  id: string;
  description: string;
  default?: string | null;
  options: string[];
  isSecret: boolean;
  hasValue: boolean;
}
/** The reason why the page cannot connect to a server. */
interface Blocked {
  kind: "inputs" | "shadowed" | "untrusted" | "disabled" | "unusable";
  by?: string;
  file?: string;
  message?: string;
}
interface ConfigFile {
  file: string;
  host: string;
  problem?: string | null;
}
interface Server {
  /** Whether the server is connected but did not answer the last request. */
  isDown?: boolean;
  id: string;
  name: string;
  target: string;
  source?: string;
  status: "connecting" | "open" | "failed" | "closed";
  error?: Failure | null;
  revision?: string | null;
  era?: "legacy" | "modern" | null;
  transport?: string | null;
  latencyMs?: number | Digits | null;
  info?: ServerInfo | null;
  instructions?: string | null;
  capabilities?: Capabilities | null;
  stderr?: string[];
  /** The number of the next line of standard error. */
  stderrEnd?: number;
  inputs?: Input[];
  blocked?: Blocked | null;
  isProgram?: boolean;
  /** Whether the program does not exist. */
  isMissing?: boolean;
  /** How the server is started or reached, for a test file. */
  launch?: JsonObject;
  shell?: { before?: string; options?: string; server?: string; command?: string };
}
interface Capabilities extends JsonObject {
  resources?: { subscribe?: boolean };
  tasks?: { list?: JsonObject };
  logging?: JsonObject;
  completions?: JsonObject;
}
interface Tool {
  name: string;
  title?: string;
  description?: string;
  inputSchema?: Schema;
  outputSchema?: Schema;
  annotations?: { title?: string; readOnlyHint?: boolean; destructiveHint?: boolean };
  execution?: { taskSupport?: string };
  _meta?: { ui?: { resourceUri?: string; visibility?: unknown }; "ui/resourceUri"?: string };
}
interface Prompt {
  name: string;
  title?: string;
  description?: string;
  arguments?: { name: string; title?: string; description?: string; required?: boolean }[];
}
interface Resource {
  uri: string;
  name?: string;
  title?: string;
  description?: string;
  mimeType?: string;
  size?: number | Digits;
}
interface ResourceTemplate {
  uriTemplate: string;
  name?: string;
  title?: string;
  description?: string;
  mimeType?: string;
}
/** A server's lists, cleaned up by `offer.js`. */
interface Offer {
  tools: Tool[];
  prompts: Prompt[];
  resources: Resource[];
  resourceTemplates: ResourceTemplate[];
  problems: { list: string; error: Failure }[];
}
/** A tool, prompt, resource or resource template, and how to call it. */
interface Subject {
  item: Tool | Prompt | Resource | ResourceTemplate;
  name: string;
  title?: string;
  description?: string;
  method: string;
  verb: string;
  act: string;
  object?: string;
  schema: Schema;
  marks: Mark[];
  isDestructive?: boolean;
  isFixed?: boolean;
  task?: string;
  app?: string;
  about?: string;
  complete?: Complete;
  uri?: (value: JsonObject) => string;
  params: (value: JsonObject) => JsonObject;
  values: (params: JsonObject | undefined) => JsonObject | null;
}
/** A style and a text. */
type Mark = [string, string];

interface Task {
  taskId?: string;
  status?: string;
  statusMessage?: string;
  ttl?: number | null;
  ttlMs?: number | null;
  createdAt?: string;
  lastUpdatedAt?: string;
  pollInterval?: number;
  pollIntervalMs?: number;
}
interface Progress {
  progress: number | Digits;
  total?: number | Digits | null;
  message?: string;
}
/** The result of a call of any method. */
interface CallResult extends JsonObject {
  isError?: boolean;
  structuredContent?: Json;
}
/** A call with everything that belongs to it. */
interface Exchange {
  n: number;
  server: string;
  method: string;
  object?: string | null;
  params?: JsonObject;
  started: number;
  ended?: number | null;
  status: string;
  rounds: number;
  progress?: Progress | null;
  asks?: Question[];
  answers?: GivenAnswer[];
  result?: CallResult | null;
  error?: Failure | null;
  bytes?: number;
  outputCheck?: { ok: boolean; problems: (string | Problem)[] } | null;
  taskId?: string | null;
  task?: Task | null;
  command?: string;
  app?: string;
}
/** A question that was answered. */
interface GivenAnswer {
  ask: Question;
  how: "result" | "decline" | "cancel" | "error";
  result?: Json;
  asked: number;
  time: number;
}
/** A question of a server. */
interface Question {
  id: string;
  server: string;
  exchange: number;
  method: string;
  params: JsonObject;
  round?: number | null;
  stateBytes?: number | null;
}
/** A message on the wire, without its body. */
interface WireRow {
  seq: number;
  server: string;
  exchange?: number | null;
  time: number;
  direction: "in" | "out";
  kind: string;
  method?: string | null;
  object?: string | null;
  id?: Json;
  status?: string | null;
  ms?: number | null;
  bytes?: number | null;
  round?: number | null;
}
/** A request with the number of its response, or any other message. */
interface WirePair extends WireRow {
  answer?: number;
}
/** A message on the wire, with its body. */
interface WireMessage extends WireRow {
  message: { method?: string; params?: JsonObject } | null;
  http?: HttpExchange | null;
}
interface HttpExchange {
  method: string;
  url: string;
  status?: number | null;
  firstByteMs?: number | null;
  requestHeaders?: [string, string][];
  responseHeaders?: [string, string][];
}
interface LogLine {
  server: string;
  /** The call that the line belongs to, if known. */
  exchange?: number | null;
  level: string;
  logger?: string | null;
  data: Json;
  time: number;
}
interface Change {
  server: string;
  kind: string;
  uri?: string | null;
  time: number;
}
/** A step of authorization. */
interface AuthStep {
  server: string;
  step: string;
  state: "doing" | "done" | "failed" | "missing";
  detail?: Json;
  url?: string | null;
}

/** A child of an element. `null`, `undefined` and `false` are left out. */
type Child = Node | string | number | null | undefined | false | Child[];
/**
 * Attributes of an element. Names that begin with `on` are event listeners; `value`, `checked` and `open` are
 * properties.
 */
interface Attributes {
  onclick?: (event: MouseEvent) => unknown;
  onkeydown?: (event: KeyboardEvent) => unknown;
  oninput?: (event: InputEvent) => unknown;
  onchange?: (event: Event) => unknown;
  onerror?: (event: Event) => unknown;
  [name: string]: unknown;
}
interface ButtonOptions extends Attributes {
  picture?: string;
  look?: string;
  quiet?: boolean;
}
/** The tag in `input.filter.wide`. */
type TagOf<Name extends string> = Name extends `${infer Tag}.${string}` ? Tag : Name;
type ElementOf<Name extends string> =
  TagOf<Name> extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[TagOf<Name>] : HTMLElement;

interface HTMLElementTagNameMap {
  "tb-gateway": import("./assets/gateway.js").GatewayView;
  "tb-gateway-messages": import("./assets/gateway-messages.js").GatewayMessages;
  "tb-ask": import("./assets/ask.js").Ask;
  "tb-add-server": import("./assets/add-server.js").AddServer;
  "tb-roots": import("./assets/roots-pane.js").RootsPane;
  "tb-server-log": import("./assets/server-log.js").ServerLog;
  "tb-home": import("./assets/home.js").Home;
  "tb-questions": import("./assets/questions-tab.js").QuestionsTab;
  "tb-waiting": import("./assets/waiting-line.js").WaitingLine;
  "tb-form": import("./assets/schema-form.js").SchemaForm;
  "tb-list": import("./assets/virtual-list.js").VirtualList;
  "tb-logs": import("./assets/logs-tab.js").LogsTab;
  "tb-offers": import("./assets/offer-list.js").OfferList;
  "tb-panel": import("./assets/panel.js").Panel;
  "tb-run": import("./assets/run.js").Run;
  "tb-server": import("./assets/server-tab.js").ServerTab;
  "tb-tasks": import("./assets/tasks-tab.js").TasksTab;
  "tb-welcome": import("./assets/welcome.js").Welcome;
  "tb-wire": import("./assets/wire.js").Wire;
  "tb-wire-detail": import("./assets/wire-detail.js").WireDetail;
}

/** The gateway as reported by the binary. */
interface GatewayOverview {
  address: string;
  version: string;
  /** Seconds. */
  uptime: number;
  servers: GatewayServer[];
  waiting: GatewayWaiting[];
  maxWaiting: number;
  series: GatewaySeries;
  cells: GatewayCell[];
  callers: GatewayCaller[];
  denials: GatewayDenial[];
  newest: number;
  lock?: GatewayLock | null;
}
interface GatewayServer {
  id: string;
  title?: string;
  target: string;
  state: string;
  revision?: string;
  reason?: string;
  /** Milliseconds. */
  retryIn?: number;
  restarts: number;
  failures: number;
  stderr: string[];
  processes: number;
  tools: number;
  calls: number;
  errors: number;
  p50?: number;
  recent: number[];
}
interface GatewayWaiting {
  message: string;
  kind: string;
  name?: string;
  server: string;
  caller?: string;
  step: number;
  /** Seconds. */
  age: number;
  expires?: number;
  exchange?: number;
}
interface GatewaySeries {
  /** Seconds. */
  step: number;
  requests: number[];
  p50: (number | null)[];
  p99: (number | null)[];
  allP50: number | null;
  allP99: number | null;
  denied: number;
}
interface GatewayCell {
  from: string;
  to: string;
  calls: number;
  asked: number;
}
interface GatewayCaller {
  caller?: string;
  client?: string;
  revision: string;
  calls: number;
  asked: number;
  /** Milliseconds. */
  ago: number;
}
interface GatewayDenial {
  name: string;
  caller?: string;
  reason: string;
  count: number;
  time: number;
}
interface GatewayLock {
  mode: string;
  path?: string;
  differences: GatewayChange[];
}
interface GatewayChange {
  server: string;
  kind: string;
  name: string;
  what: string;
  renamedFrom?: string | null;
  effect: string;
  changes: { effect: string; path?: string; what: string }[];
  before?: Json;
  after?: Json;
  isWithheld: boolean;
}
interface GatewayExchange {
  number: number;
  time: number;
  method: string;
  name?: string;
  caller?: string;
  client?: string;
  from: string;
  server?: string;
  to?: string;
  outcome: string;
  milliseconds: number;
  asked: number;
  continues?: number;
}
interface GatewayMessage {
  hop: "client" | "server";
  part: string;
  method?: string;
  at: number;
  text: string;
  bytes: number;
}
interface GatewayWhole extends GatewayExchange {
  messages: GatewayMessage[];
  dropped: number;
}
