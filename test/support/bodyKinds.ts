/**
 * Bodies at the limits: the largest honest ones, and those made to hold up whoever reads them, as many as there are kinds
 * of things in JSON and in the calls.
 */
import {DEFAULT_LIMITS} from "../../server/limits.ts";
import {ACCOUNTS} from "./serviceChain.ts";

export interface BodyKind {
  readonly title: string;
  readonly body: string;
  /** Who would answer its estimates; left out: this node. */
  readonly isForGateway?: true;
}

const {bodyBytes, members, batchCalls, requestCost} = DEFAULT_LIMITS;
/** Beside what is repeated, a body has a few brackets and fields. */
const SPARE_MEMBERS = 40;
const SPARE_BYTES = 500;
const ACCOUNT = ACCOUNTS[0] as string;
const ALL = 1e9;

/** Neither zeros in front nor two alike. */
function word(at: number): string {
  return `0x${(((BigInt(at + 1) * 0x9e3779b97f4a7c15f39cc0605cedc835n) % (1n << 256n)) | (1n << 255n)).toString(16)}`;
}

function address(at: number): string {
  return word(at).slice(0, 42);
}

/** As many texts as the body's limits leave room for, with commas between. @param membersEach - of one text, itself included */
function fill(create: (at: number) => string, membersEach: number, most = ALL): string {
  const count = Math.min(most, Math.floor((members - SPARE_MEMBERS) / membersEach));
  const texts: string[] = [];
  let bytes = SPARE_BYTES;
  for (let at = 0; at < count; at++) {
    const text = create(at);
    bytes += Buffer.byteLength(text) + 1;
    if (bytes > bodyBytes) break;
    texts.push(text);
  }
  return texts.join();
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

/** Half-way between two doubles: only arithmetic with all digits tells to which it goes. */
const HALF_WAY =
  "2.4703282292062327208299439643411068618252990130716238221279284125033775363510437593264991818081799618989828234772285886546332835517796989819939738800539093906315035659515570226392290858392449105184435931802849936536152500319370457678249219365623669863658480757001585769269903706311928279558551332927834338409351978015531246597263579574622766465272827220056374006485499977096599470454020828166226237857393450736339007967761930577506740176324673600968951340535537458516661134223766678604862159680461914467291840300530057530849048765391711386591641239524653623881879636239373280423891018672348497668235089863388587925628302755995657524455507255189313690836254779186948667994968324049705821028513185451396213837722826145437693412532098591327667236328125";

function halfWay(digits: number): string {
  return `${HALF_WAY.slice(0, digits)}e-324`;
}

/** All numbers together have at most as many characters as a body has members. */
function oddNumbers(text: string): string {
  return `[[${fill(() => text, 1, Math.floor((members - SPARE_MEMBERS) / text.length))}]]`;
}

/** The largest that users send: 1 000 proofs, and calls of estimates, that together cost what one request may. */
export function createHonestBodies(): BodyKind[] {
  const keys = (count: number, first: number) =>
    Array.from({length: count}, (_, at) => `"${word(first + at)}"`).join();
  const entries = requestCost - 40;
  return [
    {title: "1000 proofs of 17 keys", body: batch(at => proof(at, keys(17, at * 17)))},
    {title: "18 proofs of 1024 keys", body: batch(at => proof(at, keys(1024, at * 1024)), 18)},
    {
      title: "1000 estimates of transfers",
      body: batch(at =>
        call(at, "chain_estimateGas", `[{"to":"${address(at)}","value":"0x1","data":"${word(at)}"}]`),
      ),
    },
    {
      title: "an estimate that overrides slots",
      body: estimate(
        "",
        `{"${ACCOUNT}":{"stateDiff":{${fill(at => `"${word(at)}":"${word(at)}"`, 1, entries)}}}}`,
      ),
    },
  ];
}

export function createHostileBodies(): BodyKind[] {
  const kinds: Record<string, string> = {
    "distinct keys": `{${fill(at => `"k${at.toString(36)}":1`, 1)}}`,
    "distinct keys that are integers": `{${fill(at => `"${at * 7919}":1`, 1)}}`,
    "distinct long keys": `{${fill(at => `"${"k".repeat(115)}${at}":1`, 1)}}`,
    "distinct keys with escapes": `{${fill(at => `"\\u00e9${at}":1`, 1)}}`,
    "one key again and again": `{${fill(() => '"k":1', 1)}}`,
    "ids again and again": `{${fill(() => '"id":1', 1)},"id":1.5}`,
    "__proto__ again and again": `{${fill(() => '"__proto__":{}', 2)}}`,
    "objects of a new shape each": `[[${fill(at => `{"k${at}":1}`, 2)}]]`,
    "objects of many new shapes": `[[${fill(at => `{${Array.from({length: 20}, (_, key) => `"k${at}x${key}":1`).join()}}`, 21)}]]`,
    "requests of many fields and an odd id": batch(
      at => `{"id":1.5,${Array.from({length: 36}, (_, key) => `"k${at}x${key}":1`).join()}}`,
    ),
    digits: `[[${fill(() => "1", 1)}]]`,
    "whole numbers of 15 digits": `[[${fill(() => "123456789012345", 1)}]]`,
    "numbers of many digits": oddNumbers(`1.${"7".repeat(770)}`),
    "numbers with exponents": oddNumbers("9e-265"),
    "numbers beyond all doubles": oddNumbers("1e999999"),
    "short numbers half-way between doubles": oddNumbers(halfWay(22)),
    "numbers half-way between doubles": oddNumbers(halfWay(100)),
    "long numbers half-way between doubles": oddNumbers(halfWay(768)),
    "one number of megabytes": call("7".repeat(bodyBytes - SPARE_BYTES), "chain_chainId", "[]"),
    "empty strings": `[[${fill(() => '""', 1)}]]`,
    "short strings": `[[${fill(at => `"${at.toString(36)}"`, 1)}]]`,
    "strings of digits": `[[${fill(at => `"${at * 65536}"`, 1)}]]`,
    "strings of 120 characters": `[[${fill(at => `"${"s".repeat(115)}${at}"`, 1)}]]`,
    "one string of megabytes": call(1, long("x"), "[]"),
    "one string of two-byte characters": call(1, long("\u00e9"), "[]"),
    "one string of three-byte characters": call(1, long("\u0e01"), "[]"),
    "one string of four-byte characters": call(1, long("\u{1f600}"), "[]"),
    "escaped quotes": call(1, long('\\"'), "[]"),
    "escaped backslashes": call(1, long("\\\\"), "[]"),
    "escaped characters": call(1, long("\\u0e01"), "[]"),
    "escaped half characters": call(1, long("\\ud800"), "[]"),
    "strings of one escape": `[[${fill(() => '"\\n"', 1)}]]`,
    "empty arrays": `[[${fill(() => "[]", 2)}]]`,
    "empty objects": `[[${fill(() => "{}", 2)}]]`,
    "arrays 60 deep": `[[${fill(() => "[".repeat(60) + "]".repeat(60), 61)}]]`,
    "objects 60 deep": `[[${fill(() => `${'{"a":'.repeat(60)}1${"}".repeat(60)}`, 61)}]]`,
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
    "a call's data": estimate(`,"data":"0x${long("ab")}"`),
    "a call's data twice": estimate(`,"data":"0x${long("ab", 2)}","input":"0x${long("ab", 2)}"`),
    "data that ends badly": estimate(`,"data":"0x${long("ab")}zz"`),
    "code in overrides": estimate("", `{"${ACCOUNT}":{"code":"0x${long("ab")}"}}`),
    "a decimal quantity": estimate(`,"value":"1${long("0")}"`),
    "a hexadecimal quantity": estimate(`,"value":"0x1${long("0")}"`),
    "a quantity that is a number": estimate(`,"value":1${"0".repeat(39_000)}`),
    "an access list of addresses": estimate(
      `,"accessList":[${fill(at => `{"address":"${address(at)}","storageKeys":[]}`, 4, requestCost - 40)}]`,
    ),
    "an access list of keys": estimate(
      `,"accessList":[{"address":"${ACCOUNT}","storageKeys":[${fill(at => `"${word(at)}"`, 1, requestCost - 40)}]}]`,
    ),
    authorizations: estimate(
      `,"authorizationList":[${fill(at => `{"chainId":"0x1","address":"${address(at)}","nonce":"0x1","yParity":"0x1","r":"${word(at)}","s":"${word(at)}"}`, 7)}]`,
    ),
    "overrides of many accounts": estimate("", `{${fill(at => `"${address(at)}":{}`, 2, requestCost - 40)}}`),
    "overrides of all fields": estimate(
      "",
      `{${fill(at => `"${address(at)}":{"balance":"0x1","nonce":"0x1","code":"0x6000"}`, 4)}}`,
    ),
    "overrides with a slot each": estimate(
      "",
      `{${fill(at => `"${address(at)}":{"balance":"0x1","stateDiff":{"0x1":"0x1"}}`, 4, 9_900)}}`,
    ),
    "overrides of too many slots": estimate(
      "",
      `{"${ACCOUNT}":{"state":{${fill(at => `"0x${at.toString(16)}":"0x1"`, 1)}}}}`,
    ),
  };
  const upstream: Record<string, string> = {
    "numbers for a gateway": call(1, "chain_estimateGas", `[{},"latest",[${fill(() => "1", 1)}]]`),
    "slots for a gateway": estimate(
      "",
      `{"${ACCOUNT}":{"x":{${fill(at => `"0x${at.toString(16)}":"0x1"`, 1)}}}}`,
    ),
    "data for a gateway": estimate(`,"data":"0x${long("ab")}"`),
    "half characters for a gateway": estimate(`,"data":"${long("\\ud800")}"`),
  };
  return [
    ...Object.entries(kinds).map(([title, body]) => ({title, body})),
    ...Object.entries(upstream).map(([title, body]) => ({title, body, isForGateway: true as const})),
  ];
}
