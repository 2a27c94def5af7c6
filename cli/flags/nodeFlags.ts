/** `--l2`, `--l1` and `--node`, with their headers. Errors never show URLs and headers, which may contain secrets. */
import type {Command} from "commander";
import type {NodesSettings} from "../../nodes/rpc/nodes.ts";
import type {NodeSource} from "../../workers/messages/importSource.ts";
import {type Flag, nameOf, readFlagFile, refuseFlag, secret, type ValuesOf, value} from "./flagTable.ts";
import {hasReadableCredentials, parseText, redactUrls} from "./flagValues.ts";

/** `node` is another proofd. `l2Archive` has old states. */
type NodeRole = "l2" | "l2Archive" | "l1" | "node";

export interface NodeOptions extends NodesSettings {
  /** ws and wss URLs that announce new heads. */
  readonly subscriptions: readonly string[];
}

type Texts = readonly string[] | undefined;
/** Headers for the nodes of a role, or for the server of --url. */
type HeaderKey = `${NodeRole}Header` | "header";
type HeaderTable<K extends HeaderKey> = Record<K, Flag<Texts>> & Record<`${K}File`, Flag<string | undefined>>;
type NodeTable<R extends NodeRole> = Record<R, Flag<Texts>> & HeaderTable<`${R}Header`>;
type NodeValues = Partial<ValuesOf<NodeTable<NodeRole>>>;

const SEVERAL = "http or https; comma-separated, with failover";
const DESCRIPTIONS: Readonly<Record<NodeRole, string>> = {
  l2: `layer-2 node, ${SEVERAL}; ws or wss URLs among them announce new blocks`,
  l2Archive: `layer-2 node that still has the states that the nodes of --l2 have lost, ${SEVERAL}`,
  l1: `layer-1 node, ${SEVERAL}`,
  node: `trusted proofd, ${SEVERAL}`,
};
const MAX_URLS = 16;
const MAX_HEADERS = 16;
/** For one response of a node. */
const TIMEOUT_MS = 30_000;
const MIB = 2 ** 20;
/** Differences of a large block have tens of MiB. Layer 1 is asked for fewer logs if a response is too long. */
const MAX_ANSWER_BYTES: Readonly<Record<NodeRole, number>> = {
  l2: 128 * MIB,
  l2Archive: 128 * MIB,
  l1: 4 * MIB,
  node: MIB,
};
/** A field name and a field value (RFC 9110, section 5). */
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}):[ \t]*([\x20-\x7e]{1,8000})$/;
/** Set by the HTTP client. */
const OWN_HEADERS: readonly string[] = [
  "accept",
  "accept-encoding",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "expect",
  "host",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

/** @param needs - what the URLs need to have an effect */
export function createNodeFlags<R extends NodeRole>(role: R, needs?: string): NodeTable<R> {
  return {
    [role]: secret(value("<urls>", collectBy(",")).says(DESCRIPTIONS[role], needs), redactUrls),
    ...createHeaderFlags(`${role}Header`, `every node of --${nameOf(role)}`, nameOf(role)),
  } as unknown as NodeTable<R>;
}

function createHeaderFlags<K extends HeaderKey>(key: K, receiver: string, needs: string): HeaderTable<K> {
  const header = value("<header>", collectBy("\n")).says(
    `"Name: value", sent to ${receiver}; may be repeated; in the variable, one per line`,
    needs,
  );
  return {
    [key]: secret(header, () => "***"),
    [`${key}File`]: value("<file>", parseText).says("file of headers, one per line, read at startup", needs),
  } as unknown as HeaderTable<K>;
}

export const URL_HEADER_FLAGS = createHeaderFlags("header", "the server of --url", "url");

/** @returns undefined without a URL. An invalid URL or header is a usage error */
export function readNodes(values: NodeValues, role: NodeRole, command: Command): NodeOptions | undefined {
  const texts = values[role];
  if (texts === undefined) return undefined;
  const urls = readUrls(texts, role, problem => refuseFlag(command, role, problem));
  const headers = readHeaders(values, `${role}Header`, command);
  if ("authorization" in headers && urls.some(({username, password}) => username + password !== ""))
    refuseFlag(
      command,
      `${role}Header`,
      `: expected no authorization if a URL of --${nameOf(role)} has a user, got one`,
    );
  return {
    urls: urls.filter(url => !isSocket(url)).map(({href}) => href),
    subscriptions: urls.filter(isSocket).map(({href}) => href),
    headers,
    timeoutMs: TIMEOUT_MS,
    maxAnswerBytes: MAX_ANSWER_BYTES[role],
  };
}

export function readNodeSource(
  {subscriptions, ...nodes}: NodeOptions,
  values: Pick<NodeSource, "source" | "archive" | "sliceFrom"> & {
    readonly genesis: string | undefined;
    readonly to?: number | undefined;
    readonly contracts?: readonly string[] | undefined;
  },
  follow: boolean,
): NodeSource {
  const {source, archive, sliceFrom, genesis: genesisPath, to} = values;
  const contracts = values.contracts?.map(text => {
    const [address = "", form] = text.split(":");
    return {address, isWhole: form !== undefined};
  });
  const slices = {contracts, archive, sliceFrom};
  return {kind: "node", source, ...slices, nodes, surveyAfterMs: 0, subscriptions, genesisPath, follow, to};
}

/** Collects the texts of repeated flags. It validates nothing, because commander would print the invalid text. */
function collectBy(separator: string): (text: string, earlier: readonly string[] | undefined) => string[] {
  return (text, earlier) => [...(earlier ?? []), ...text.split(separator).map(part => part.trim())];
}

function readUrls(texts: readonly string[], role: NodeRole, refuseUrls: (problem: string) => never): URL[] {
  if (texts.length > MAX_URLS) refuseUrls(`: expected at most ${MAX_URLS} URLs, got ${texts.length}`);
  const schemes = role === "l2" ? "http, https, ws or wss" : "http or https";
  const urls = texts.map((text, at) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const isKnown = url !== undefined && (/^https?:$/.test(url.protocol) || (role === "l2" && isSocket(url)));
    if (isKnown && url.hash === "" && hasReadableCredentials(url)) return url;
    return refuseUrls(`, URL ${at + 1} of ${texts.length}: expected ${schemes}, a host, and no #`);
  });
  for (const [at, {href}] of urls.entries()) {
    const earlier = urls.findIndex(url => url.href === href);
    if (earlier < at)
      refuseUrls(`: expected each URL once, got one twice, as numbers ${earlier + 1} and ${at + 1}`);
  }
  if (urls.every(isSocket))
    refuseUrls(": expected an http or https URL, got only ws and wss, which announce new blocks");
  return urls;
}

/** @param command - ends the program with a usage error for a bad header. @returns names in lower case */
export function readHeaders(
  values: Partial<ValuesOf<HeaderTable<HeaderKey>>>,
  key: HeaderKey,
  command: Command,
): Readonly<Record<string, string>> {
  const fileKey = `${key}File` as const;
  const path = values[fileKey];
  const lines = path === undefined ? [] : readFlagFile(command, fileKey, path).split("\n");
  const written = lines.map(line => line.trim()).filter(line => line !== "" && !line.startsWith("#"));
  const texts = [...(values[key] ?? []), ...written];
  const refuseHeaders: (problem: string) => never = problem => refuseFlag(command, key, problem);
  if (texts.length > MAX_HEADERS)
    refuseHeaders(`: expected at most ${MAX_HEADERS} headers, got ${texts.length}`);
  const headers = new Map<string, string>();
  for (const [at, text] of texts.entries()) {
    const [, name, value] = HEADER.exec(text) ?? [];
    if (name === undefined || value === undefined) {
      const expected = 'expected "Name: value" in printable ASCII';
      return refuseHeaders(`, header ${at + 1} of ${texts.length}: ${expected}`);
    }
    const lowerName = name.toLowerCase();
    if (OWN_HEADERS.includes(lowerName))
      refuseHeaders(`: expected another header than ${lowerName}, which proofd sets itself`);
    if (headers.has(lowerName)) refuseHeaders(`: expected the header ${lowerName} once, got it twice`);
    headers.set(lowerName, value);
  }
  return Object.fromEntries(headers);
}

function isSocket({protocol}: URL): boolean {
  return protocol === "ws:" || protocol === "wss:";
}
