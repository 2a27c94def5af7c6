/**
 * How long a body keeps the main thread, on which everyone waits: none within the limits much longer than the largest
 * batch that users send, which has the most calls and the most bytes. Processor time of this thread, the shortest of rounds in which every honest body has its turn, and
 * then every hostile one that is too long so far: what else the machine does (caches and cores are shared) and what others
 * left to be collected only ever add to it, on both sides.
 */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {setImmediate as turn} from "node:timers/promises";
import {pino} from "pino";
import type {Dispatcher} from "../../../server/dispatch/dispatcher.ts";
import {createEstimateLane, createProofLane} from "../../../server/dispatch/lanes/lanes.ts";
import {Gateway} from "../../../server/gateway/gateway.ts";
import {BodyScan} from "../../../server/json/bodyScan.ts";
import {DEFAULT_LIMITS} from "../../../server/limits.ts";
import type {Estimates} from "../../../server/methods/method.ts";
import {MethodTable} from "../../../server/methods/table.ts";
import {TroubleLog} from "../../../server/observe/troubleLog.ts";
import {RequestRecord} from "../../../server/request/requestRecord.ts";
import {RpcService} from "../../../server/rpcService.ts";
import {Engine} from "../../../workers/engine.ts";
import {DEFAULT_ESTIMATE_SETTINGS} from "../../../workers/messages/estimateSettings.ts";
import {MAX_MULTI_KEYS} from "../../../workers/messages/packedCall.ts";
import {ThreadClock} from "../../../workers/threads/threadClock.ts";
import {ACCOUNTS, CHAIN_ID, WorkFolder} from "../../support/chains/serviceChain.ts";
import {CollectedReply} from "../../support/http/collectedReply.ts";
import {openDispatcher} from "../../support/http/drivenDispatcher.ts";
import {Upstream} from "../../support/http/upstream.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {waitUntil} from "../../support/wait.ts";

interface BodyKind {
  readonly title: string;
  readonly body: string;
  /** A gateway answers its estimates. Default: this node. */
  readonly isForGateway?: true;
}

const {bodyBytes, members, fields, batchCalls, requestCost} = DEFAULT_LIMITS;
/** A body has a few brackets and fields in addition to its repeated part. */
const SPARE_MEMBERS = 40;
const SPARE_BYTES = 500;
const ENTRIES = requestCost - 40;
/** A slot in the overrides counts as 2 entries. */
const SLOTS = Math.floor(ENTRIES / 2);
/** The number of accounts, with a slot each, that fit into the overrides. */
const SLOT_ACCOUNTS = Math.floor(ENTRIES / 3);
const ACCOUNT = ACCOUNTS[0] as string;
const ALL = 1e9;
/** More arguments of a call, such as a swap's or a batch's, in hexadecimal digits. */
const LONG_DATA = "ab".repeat(Math.floor(bodyBytes / batchCalls / 2) - 300);

/** Words without leading zeros, each different. */
function word(at: number): string {
  return `0x${(((BigInt(at + 1) * 0x9e3779b97f4a7c15f39cc0605cedc835n) % (1n << 256n)) | (1n << 255n)).toString(16)}`;
}

function address(at: number): string {
  return word(at).slice(0, 42);
}

/** As many texts as the body's limits allow, with commas between them. */
function fill(create: (at: number) => string, most = ALL): string {
  const texts: string[] = [];
  let membersLeft = members - SPARE_MEMBERS;
  let fieldsLeft = fields - SPARE_MEMBERS;
  let bytesLeft = bodyBytes - SPARE_BYTES;
  for (let at = 0; at < most; at++) {
    const text = create(at);
    const bytes = Buffer.from(text);
    const shape = new BodyScan(bytes);
    shape.read(bytes.length);
    membersLeft -= shape.members + 1;
    fieldsLeft -= shape.fields;
    bytesLeft -= bytes.length + 1;
    if (membersLeft < 0 || fieldsLeft < 0 || bytesLeft < 0) break;
    texts.push(text);
  }
  return texts.join();
}

/** A key of a length that counts as one field. */
function longKey(at: number): string {
  return "k".repeat(90) + at;
}

/** A key so long that a thousand of them fill a body. */
function veryLongKey(at: number): string {
  return "k".repeat(5000) + at;
}

/** One request of a batch. All requests together have as many fields as a body may have. Each request counts as one, and so does its id. */
function manyFields(at: number): string {
  const names = Array.from({length: Math.floor(fields / batchCalls - 2)}, (_, key) => `"k${at}x${key}":1`);
  return `{"id":1.5,${names.join()}}`;
}

/** As long as a body can be. */
function long(text: string, times = 1): string {
  return text.repeat(Math.floor((bodyBytes / times - SPARE_BYTES) / Buffer.byteLength(text)));
}

function call(id: string | number, method: string, params: string): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`;
}

function batch(create: (at: number) => string, count = batchCalls): string {
  return `[${Array.from({length: count}, (_, at) => create(at)).join()}]`;
}

function estimate(fields: string, overrides = "null"): string {
  return call(1, "chain_estimateGas", `[{"to":"${ACCOUNT}"${fields}},"latest",${overrides}]`);
}

function proof(id: string | number, keys: string, block = '"latest"'): string {
  return call(id, "chain_getProof", `["${ACCOUNT}",[${keys}],${block}]`);
}

/** A number half-way between two doubles. Only arithmetic with all its digits tells how to round it. */
const HALF_WAY =
  "2.4703282292062327208299439643411068618252990130716238221279284125033775363510437593264991818081799618989828234772285886546332835517796989819939738800539093906315035659515570226392290858392449105184435931802849936536152500319370457678249219365623669863658480757001585769269903706311928279558551332927834338409351978015531246597263579574622766465272827220056374006485499977096599470454020828166226237857393450736339007967761930577506740176324673600968951340535537458516661134223766678604862159680461914467291840300530057530849048765391711386591641239524653623881879636239373280423891018672348497668235089863388587925628302755995657524455507255189313690836254779186948667994968324049705821028513185451396213837722826145437693412532098591327667236328125";

function halfWay(digits: number): string {
  return `${HALF_WAY.slice(0, digits)}e-324`;
}

/** All numbers together have at most as many characters as a body has members. */
function oddNumbers(text: string): string {
  return `[[${fill(() => text, Math.floor((members - SPARE_MEMBERS) / text.length))}]]`;
}

/** An ERC-20 transfer with all 10 fields that wallets set. @param more - digits at the end of its data */
function transfer(at: number, more = ""): string {
  const data = `0xa9059cbb${"0".repeat(24)}${address(at).slice(2)}${word(at).slice(2)}${more}`;
  const fees = '"maxFeePerGas":"0x77359400","maxPriorityFeePerGas":"0x3b9aca00"';
  return `{"type":"0x2","chainId":"${CHAIN_ID}","nonce":"0x${at.toString(16)}","from":"${address(at)}","to":"${ACCOUNT}","gas":"0x186a0",${fees},"value":"0x0","data":"${data}"}`;
}

/** The largest batches that users send: of the most calls, of the highest cost that one request may have, and of the most bytes. */
function createHonestBodies(): BodyKind[] {
  const keys = (count: number, first: number) =>
    Array.from({length: count}, (_, at) => `"${word(first + at)}"`).join();
  return [
    {title: "1000 proofs of 17 keys", body: batch(at => proof(at, keys(17, at * 17)))},
    {title: "18 proofs of 1024 keys", body: batch(at => proof(at, keys(1024, at * 1024)), 18)},
    {
      title: "1000 estimates of ERC-20 transfers",
      body: batch(at => call(at, "chain_estimateGas", `[${transfer(at)},"latest"]`)),
    },
    {
      title: "1000 estimates of calls with 2 KB of data, which fill the body",
      body: batch(at => call(at, "chain_estimateGas", `[${transfer(at, LONG_DATA)},"latest"]`)),
    },
  ];
}

function createHostileBodies(): BodyKind[] {
  const kinds: Record<string, string> = {
    "distinct keys": `{${fill(at => `"k${at.toString(36)}":1`)}}`,
    "distinct keys that are integers": `{${fill(at => `"${at * 7919}":1`)}}`,
    "distinct long keys": `{${fill(at => `"${longKey(at)}":1`)}}`,
    "distinct very long keys": `{${fill(at => `"${veryLongKey(at)}":1`)}}`,
    "distinct keys with escapes": `{${fill(at => `"\\u00e9${at}":1`)}}`,
    "one key again and again": `{${fill(() => '"k":1')}}`,
    "__proto__ again and again": `{${fill(() => '"__proto__":{}')}}`,
    "objects of a new shape each": `[[${fill(at => `{"k${at}":1}`)}]]`,
    "objects of many new shapes": `[[${fill(at => `{${Array.from({length: 20}, (_, key) => `"k${at}x${key}":1`).join()}}`)}]]`,
    "objects of a long new key each": `[[${fill(at => `{"${longKey(at)}":1}`)}]]`,
    "objects of a very long new key each": `[[${fill(at => `{"${veryLongKey(at)}":1}`)}]]`,
    "objects of a new shape with an array each": `[[${fill(at => `{"k${at}":[]}`)}]]`,
    "objects of a new shape with a new string each": `[[${fill(at => `{"k${at}":"s${at}"}`)}]]`,
    "fields that are elements too": `[{${fill(at => `"k${at}":[1]`)}}]`,
    "requests of many fields and an odd id": batch(manyFields),
    digits: `[[${fill(() => "1")}]]`,
    "whole numbers of 15 digits": `[[${fill(() => "123456789012345")}]]`,
    "numbers of many digits": oddNumbers(`1.${"7".repeat(770)}`),
    "numbers with exponents": oddNumbers("9e-265"),
    "numbers beyond all doubles": oddNumbers("1e999999"),
    "short numbers half-way between doubles": oddNumbers(halfWay(22)),
    "numbers half-way between doubles": oddNumbers(halfWay(100)),
    "long numbers half-way between doubles": oddNumbers(halfWay(768)),
    "one number of megabytes": call("7".repeat(bodyBytes - SPARE_BYTES), "chain_chainId", "[]"),
    "empty strings": `[[${fill(() => '""')}]]`,
    "short strings": `[[${fill(at => `"${at.toString(36)}"`)}]]`,
    [DIGITS]: `[[${fill(at => `"${at * 65536}"`)}]]`,
    "strings of 120 characters": `[[${fill(at => `"${"s".repeat(115)}${at}"`)}]]`,
    "one string of megabytes": call(1, long("x"), "[]"),
    "one string of two-byte characters": call(1, long("\u00e9"), "[]"),
    "one string of three-byte characters": call(1, long("\u0e01"), "[]"),
    "one string of four-byte characters": call(1, long("\u{1f600}"), "[]"),
    "escaped quotes": call(1, long('\\"'), "[]"),
    "escaped backslashes": call(1, long("\\\\"), "[]"),
    "escaped characters": call(1, long("\\u0e01"), "[]"),
    "escaped half characters": call(1, long("\\ud800"), "[]"),
    "strings of one escape": `[[${fill(() => '"\\n"')}]]`,
    "empty arrays": `[[${fill(() => "[]")}]]`,
    "empty objects": `[[${fill(() => "{}")}]]`,
    "arrays 60 deep": `[[${fill(() => "[".repeat(60) + "]".repeat(60))}]]`,
    "objects 60 deep": `[[${fill(() => `${'{"a":'.repeat(60)}1${"}".repeat(60)}`)}]]`,
    spaces: `${" ".repeat(bodyBytes - 1)}1`,
    quotes: '"'.repeat(bodyBytes),
    commas: ",".repeat(bodyBytes),
    brackets: "[".repeat(bodyBytes),
    "400 000 distinct keys": `{${Array.from({length: 400_000}, (_, at) => `"${at}k":1`).join()}}`,
    "a long id": call(`"${long("x")}"`, "chain_chainId", "[]"),
    "a long id of half characters": call(`"${long("\\ud800")}"`, "chain_chainId", "[]"),
    "ids of half characters": batch(() => call(`"${"\\ud800".repeat(256)}"`, "chain_chainId", "[]")),
    "odd ids": batch(at => call(`1.${at}${"7".repeat(30)}`, "chain_chainId", "[]")),
    "elements that are no requests": batch(at => String(at)),
    "unknown methods": batch(at => call(at, "x".repeat(5000), "[]")),
    notifications: batch(
      () =>
        `{"jsonrpc":"2.0","method":"chain_getProof","params":["${ACCOUNT}",["${long("x", 1000)}"],"latest"]}`,
    ),
    "proofs with a long last key": batch(at =>
      proof(at, `${`"${word(at)}",`.repeat(16)}"${long("x", 2000)}"`),
    ),
    "proofs as of unknown hashes": batch(at => proof(at, "", `{"blockHash":"${word(at)}"}`)),
    "proofs as of a long number": batch(at => proof(at, "", `"0x${long("1", 1100)}"`)),
    "state roots": batch(at => call(at, "chain_getStateRoot", '["earliest"]')),
    "a multiproof of the most keys, the last one wrong": call(
      1,
      "chain_getMultiProof",
      `[[{"address":"${ACCOUNT}","storageKeys":[${fill(at => `"${word(at)}"`, MAX_MULTI_KEYS - 2)},"0x"]}],"latest"]`,
    ),
    "a multiproof of the most accounts, the last one wrong": call(
      1,
      "chain_getMultiProof",
      `[[${fill(at => `{"address":"${address(at)}","storageKeys":[]}`, MAX_MULTI_KEYS - 1)},{"address":"0x","storageKeys":[]}],"latest"]`,
    ),
    "a multiproof of accounts with other fields": call(
      1,
      "chain_getMultiProof",
      `[[{"storageKeys":[],${fill(at => `"${at}k":1`)}}],"latest"]`,
    ),
    "a call's data": estimate(`,"data":"0x${long("ab")}"`),
    "a call's data twice": estimate(`,"data":"0x${long("ab", 2)}","input":"0x${long("ab", 2)}"`),
    "data that ends badly": estimate(`,"data":"0x${long("ab")}zz"`),
    "code in overrides": estimate("", `{"${ACCOUNT}":{"code":"0x${long("ab")}"}}`),
    "a decimal quantity": estimate(`,"value":"1${long("0")}"`),
    "a hexadecimal quantity": estimate(`,"value":"0x1${long("0")}"`),
    "a quantity that is a number": estimate(`,"value":1${"0".repeat(39_000)}`),
    "an access list of addresses": estimate(
      `,"accessList":[${fill(at => `{"address":"${address(at)}","storageKeys":[]}`, ENTRIES)}]`,
    ),
    "an access list of keys": estimate(
      `,"accessList":[{"address":"${ACCOUNT}","storageKeys":[${fill(at => `"${word(at)}"`, ENTRIES)}]}]`,
    ),
    authorizations: estimate(
      `,"authorizationList":[${fill(at => `{"chainId":"0x1","address":"${address(at)}","nonce":"0x1","yParity":"0x1","r":"${word(at)}","s":"${word(at)}"}`)}]`,
    ),
    "overrides of slots": estimate(
      "",
      `{"${ACCOUNT}":{"stateDiff":{${fill(at => `"${word(at)}":"${word(at)}"`, SLOTS)}}}}`,
    ),
    "overrides of slots spelled in upper case": estimate(
      "",
      `{"${ACCOUNT}":{"state":{${fill(at => `"0X${word(at).slice(2).toUpperCase()}":"${word(at)}"`, SLOTS)}}}}`,
    ),
    "overrides of slots of many accounts": estimate(
      "",
      `{${fill(at => `"${address(at)}":{"state":{"${word(at)}":"${word(at)}"}}`, SLOT_ACCOUNTS)}}`,
    ),
    "overrides of many accounts": estimate("", `{${fill(at => `"${address(at)}":{}`, ENTRIES)}}`),
    "overrides of all fields": estimate(
      "",
      `{${fill(at => `"${address(at)}":{"balance":"0x1","nonce":"0x1","code":"0x6000"}`)}}`,
    ),
    "overrides with a slot each": estimate(
      "",
      `{${fill(at => `"${address(at)}":{"balance":"0x1","stateDiff":{"0x1":"0x1"}}`, SLOT_ACCOUNTS)}}`,
    ),
    "overrides of too many slots": estimate(
      "",
      `{"${ACCOUNT}":{"state":{${fill(at => `"0x${at.toString(16)}":"0x1"`)}}}}`,
    ),
  };
  const upstream: Record<string, string> = {
    "numbers for a gateway": call(1, "chain_estimateGas", `[{},"latest",[${fill(() => "1")}]]`),
    "slots for a gateway": estimate(
      "",
      `{"${ACCOUNT}":{"x":{${fill(at => `"0x${at.toString(16)}":"0x1"`)}}}}`,
    ),
    "data for a gateway": estimate(`,"data":"0x${long("ab")}"`),
    "half characters for a gateway": estimate(`,"data":"${long("\\ud800")}"`),
  };
  return [
    ...Object.entries(kinds).map(([title, body]) => ({title, body})),
    ...Object.entries(upstream).map(([title, body]) => ({title, body, isForGateway: true as const})),
  ];
}

const SETTINGS = {...DEFAULT_ESTIMATE_SETTINGS, hardfork: "prague"};
const SILENT = pino({level: "silent"});
/** Nothing is turned away. Dropped requests may still be with the threads when the next one comes. */
const LIMITS = {...DEFAULT_LIMITS, queueCost: 1e9};

const clock = new ThreadClock();

/** Linux updates a running thread's time at its timer ticks, and when the whole process's time is read. */
function readMs(): number {
  const {user, system} = process.cpuUsage();
  return clock.readMs() ?? (user + system) / 1000;
}

/**
 * Measures from the whole body to the moment when its calls are answered or with their threads. The reader does not wait for
 * the threads.
 *
 * @returns milliseconds of processor time of this thread (of the process where the system does not tell them apart),
 * and the answer's first bytes
 */
async function answer(service: RpcService, {body, isForGateway}: BodyKind) {
  const bytes = Buffer.from(body);
  const reply = new CollectedReply();
  const startMs = readMs();
  const work = service.answer(bytes, reply, new RequestRecord("test"));
  let longestMs = 0;
  for (let atMs = startMs, isDone = false; !isDone; ) {
    isDone = work.next().done === true;
    const endMs = readMs();
    longestMs = Math.max(longestMs, endMs - atMs);
    atMs = endMs;
  }
  // At the end of a turn, lanes start the calls that came in it.
  await turn();
  await turn();
  const cpuMs = readMs() - startMs;
  // The upstream is on this thread too. It must not disturb the next measurement.
  if (isForGateway === true) await waitUntil("the whole answer", () => reply.isFinished);
  reply.onAborted?.();
  return {cpuMs, longestMs, text: reply.text.slice(0, 300)};
}

const ROUNDS = 4;
/** While a body is too long: on a machine whose speed changes, the fastest moment may have met the honest batches alone. */
const MAX_ROUNDS = 28;
const MAX_FACTOR = 1.5;

/** By major version: the first minor version and patch whose JSON.parse does not take quadratic time for strings of digits (CVE-2026-21717). */
const FIXED: Readonly<Record<number, readonly [minor: number, patch: number]>> = {
  20: [20, 2],
  22: [22, 2],
  24: [14, 1],
  25: [8, 2],
};
const [MAJOR, MINOR, PATCH] = process.versions.node.split(".").map(Number) as [number, number, number];
const [FIXED_MINOR, FIXED_PATCH] = FIXED[MAJOR] ?? [MAJOR > 25 ? 0 : ALL, 0];
const IS_FIXED = MINOR > FIXED_MINOR || (MINOR === FIXED_MINOR && PATCH >= FIXED_PATCH);
const DIGITS = "strings of digits";

const honest = createHonestBodies();
const hostile = createHostileBodies().filter(({title}) => IS_FIXED || title !== DIGITS);
/** By title: the shortest of the rounds, and the first bytes of the answer. */
const measured = new Map<string, Awaited<ReturnType<typeof answer>>>();
let largestMs = 0;

function timeOf({title}: BodyKind): number {
  return measured.get(title)?.cpuMs ?? Number.POSITIVE_INFINITY;
}

before(async () => {
  const folder = new WorkFolder();
  const directory = await folder.importChain("db", 2, 2);
  const threads = {workers: 1, settings: SETTINGS};
  const options = {directory, workers: 1, cacheBytes: 1 << 24, createIfMissing: false, estimates: threads};
  const engine = await Engine.open(options);
  const upstream = new Upstream();
  await upstream.start();
  const gateway = new Gateway(upstream.url, SILENT);
  const dispatchers: Dispatcher[] = [];
  const createService = (estimates: Estimates, gateway?: Gateway): RpcService => {
    const lanes = [createProofLane(engine), createEstimateLane(estimates)] as const;
    const {dispatcher, tally} = openDispatcher(lanes, LIMITS, SILENT, gateway);
    dispatchers.push(dispatcher);
    const {chain, maxProofTextBytes} = engine;
    const setup = {chain, limits: LIMITS, estimates, gateway, maxProofTextBytes};
    const methods = new MethodTable(undefined, gateway && []);
    return new RpcService(setup, methods, dispatcher, tally, new TroubleLog(SILENT));
  };
  const {gasCap, timeMs} = SETTINGS;
  const here = createService({
    ...{kind: "here", gasCap, timeMs, workers: 1},
    estimate: (...job) => engine.estimate(...job),
  });
  const forwarding = createService({kind: "none"}, gateway);
  // Idle threads and sockets do not keep the event loop. Without this, Node 22 may end the process while they are closed.
  const alive = setInterval(() => {}, 1000);
  try {
    const measure = async (kind: BodyKind): Promise<void> => {
      const {cpuMs, longestMs, text} = await answer(kind.isForGateway === true ? forwarding : here, kind);
      const before = measured.get(kind.title)?.longestMs ?? Number.POSITIVE_INFINITY;
      measured.set(kind.title, {
        cpuMs: Math.min(timeOf(kind), cpuMs),
        longestMs: Math.min(before, longestMs),
        text,
      });
    };
    const isTooLong = (kind: BodyKind): boolean => timeOf(kind) > MAX_FACTOR * largestMs;
    for (let round = 0; round < ROUNDS || (round < MAX_ROUNDS && hostile.some(isTooLong)); round++) {
      for (const kind of honest) await measure(kind);
      largestMs = Math.max(...honest.map(timeOf));
      for (const kind of hostile.filter(isTooLong)) await measure(kind);
    }
  } finally {
    for (const dispatcher of dispatchers) dispatcher.close();
    await gateway.close();
    await upstream.stop();
    await engine.close();
    clearInterval(alive);
  }
});

after(() => measured.clear());

for (const {title, body} of honest)
  test(`an honest batch is answered: ${title}`, t => {
    const {cpuMs, longestMs, text} = measured.get(title) ?? assert.fail();
    t.diagnostic(`${cpuMs.toFixed(1)} ms, a part ${longestMs.toFixed(1)} ms, ${body.length} bytes`);
    // A sender without funds may have been found out already. Nothing is refused.
    assert.doesNotMatch(text, /^\{|-32602|-32005/);
  });

if (!IS_FIXED) test(DIGITS, t => notRun(t, `Node ${process.version} has CVE-2026-21717`));

for (const {title, body} of hostile)
  test(`the main thread is not kept ${MAX_FACTOR} times as long as by the largest honest batch: ${title}`, t => {
    const {cpuMs, longestMs, text} = measured.get(title) ?? assert.fail();
    t.diagnostic(
      `${cpuMs.toFixed(1)} ms, a part ${longestMs.toFixed(1)} ms, to ${largestMs.toFixed(1)}, ${body.length} bytes: ${text.slice(0, 120)}`,
    );
    assert.ok(cpuMs <= MAX_FACTOR * largestMs, `${cpuMs} ms`);
  });
