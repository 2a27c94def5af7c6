/** What `proofd verify` verifies a proof for: the entries of a request, from flags, from a file, or from the answer. */
import {check, isObject, readFields} from "../../client/proof/strictJson.ts";
import {isAddress, isKey} from "../flags/verifyFlags.ts";
import type {AnswerForm, AskedEntry} from "./answerForm.ts";

/** What the user says was asked. What is undefined is taken from the answer, if it is there. */
export type GivenRequest =
  | {readonly address: string | undefined; readonly keys: readonly string[] | undefined}
  | {readonly entries: readonly AskedEntry[]};

/** As chain_getMultiProof at most. */
const MAX_ENTRIES = 16_384;

/**
 * Reads the JSON of a request: that of chain_getProof, chain_getProofAt, chain_waitForProof or chain_getMultiProof with its
 * `params`, the entries alone, or one entry.
 *
 * @throws ProofError
 */
export function parseRequest(json: unknown): readonly AskedEntry[] {
  if (Array.isArray(json)) return readEntries(json);
  const [params] = isObject(json) && "params" in json ? readFields("request", json, ["params"]) : [];
  if (params === undefined) return readEntries([json]);
  check(Array.isArray(params), "request", "params is not an array");
  const [first, second] = params;
  return Array.isArray(first) ? readEntries(first) : readEntries([{address: first, storageKeys: second}]);
}

function readEntries(list: readonly unknown[]): AskedEntry[] {
  check(
    list.length > 0 && list.length <= MAX_ENTRIES,
    "request",
    `has ${list.length} entries; expected are 1 to ${MAX_ENTRIES}`,
  );
  return list.map((entry, i) => {
    const [address, storageKeys] = readFields(`request[${i}]`, entry, ["address", "storageKeys"]);
    check(isAddress(address), `request[${i}]`, "address is not 0x and 40 hex digits");
    check(
      Array.isArray(storageKeys) && storageKeys.every(isKey),
      `request[${i}]`,
      "storageKeys are not each 0x and 1 to 64 hex digits",
    );
    return {address, storageKeys};
  });
}

/**
 * @returns entries, checked to be addresses and keys
 * @throws ProofError if the answer was made for another request, or if neither the answer nor the user says what was asked
 */
export function chooseEntries(form: AnswerForm, given: GivenRequest): readonly AskedEntry[] {
  if (form.kind === "slots") return [chooseSlots(given)];
  const echo = readEcho(form);
  const entries = "entries" in given ? given.entries : [fillIn(given, echo)];
  if (echo === undefined) return entries;
  check(entries.length === 1, "request", `has ${entries.length} entries, and the answer has one`);
  const [{address, storageKeys}] = entries as readonly [AskedEntry];
  check(
    echo.address?.toLowerCase() === address?.toLowerCase(),
    "answer",
    `is that for account ${echo.address}`,
  );
  const isSame = (key: string, i: number): boolean => BigInt(key) === BigInt(storageKeys[i] ?? -1);
  check(
    echo.storageKeys.length === storageKeys.length && echo.storageKeys.every(isSame),
    "answer",
    "is that for other storage keys",
  );
  return entries;
}

function chooseSlots(given: GivenRequest): AskedEntry {
  check(
    "keys" in given && given.address === undefined,
    "request",
    "names an account, and the proof has the slots of a storage tree alone: give --keys only",
  );
  const {keys} = given;
  check(keys !== undefined, "request", "has no keys: give --keys, since these bytes do not hold them");
  return {address: undefined, storageKeys: keys};
}

function fillIn(
  given: Exclude<GivenRequest, {readonly entries: unknown}>,
  echo: AskedEntry | undefined,
): AskedEntry {
  const address = given.address ?? echo?.address;
  check(
    address !== undefined,
    "request",
    "has no address: give --address and --keys, or --request, since this answer does not hold them",
  );
  return {address, storageKeys: given.keys ?? echo?.storageKeys ?? []};
}

/** The request that the answer repeats. @returns undefined if it repeats none */
function readEcho(form: AnswerForm): AskedEntry | undefined {
  if (form.kind === "accounts") return form.echo;
  if (form.kind !== "single") return undefined;
  const [accountProof, storageProofs] = readFields("result", form.proof, ["accountProof", "storageProofs"]);
  check(Array.isArray(storageProofs), "storageProofs", "not an array");
  const [address] = readFields("accountProof", accountProof, ["key"]);
  check(isAddress(address), "accountProof.key", "is not 0x and 40 hex digits");
  const storageKeys = storageProofs.map((proof, i) => {
    const [key] = readFields(`storageProofs[${i}]`, proof, ["key"]);
    check(isKey(key), `storageProofs[${i}].key`, "is not 0x and 1 to 64 hex digits");
    return key;
  });
  return {address, storageKeys};
}
