/** `proofd verify`: verifies the response to a request against a trusted root. */
import {encodeHex, quantity} from "../../client/bytes/hex.ts";
import {count} from "../../client/bytes/values.ts";
import {HASH_SUITES} from "../../client/hash/hashSuites.ts";
import {ProofError} from "../../client/proof/proofError.ts";
import type {ProofRequest} from "../../client/proof/request.ts";
import {WorkError} from "../../server/lifecycle/workError.ts";
import {ExitCode} from "../exitCode.ts";
import type {VerifyOptions} from "../flags/verifyFlags.ts";
import {findHeader, parseRequest, readResults} from "./askedCalls.ts";
import {isProofCall, judgeCall} from "./callJudgement.ts";
import {readInput} from "./inputFile.ts";
import {judge, type ProvenEntry} from "./judgement.ts";
import {readTrustedRoot, type TrustedRoot} from "./rootSource.ts";

interface JudgedEntry {
  readonly asked: ProofRequest;
  readonly proven: ProvenEntry;
}

/** @returns FAILED if the proof is refused. @throws WorkError if the input or the root cannot be read */
export async function runVerify(options: VerifyOptions): Promise<number> {
  const {json} = options;
  const suite = HASH_SUITES.find(({name}) => name === options.suite);
  const input = await readInput(options.answer, "the answer");
  const text = (await readInput(options.request, "the request")).toString();
  const request: unknown = useRequest(options.request, () => JSON.parse(text));
  if (isProofCall(request)) return refuseOr(json, () => judgeCall(request, input, options));
  const asked = useRequest(options.request, () => parseRequest(request));
  if (suite !== undefined && new Set(asked.calls.map(({isTrie}) => isTrie)).size > 1)
    throw new WorkError(
      `cannot use --request ${options.request}: expected proofs of one kind, got some of Ethereum's tries and some of the suite ${suite.name}, whose roots differ: verify them apart`,
    );
  return refuseOr(json, async () => {
    const results = readResults(input, asked);
    const trusted = await readTrustedRoot(options.root, findHeader(results));
    const entries = asked.calls.flatMap((call, at): JudgedEntry[] => {
      const proven = judge(suite, call, results[at], trusted);
      return proven.map((one, entry) => ({asked: call.entries[entry] as ProofRequest, proven: one}));
    });
    return json ? encodeVerdict(entries, trusted) : writeVerdict(entries, trusted);
  });
}

/** Writes a verdict, or why it is refused. */
async function refuseOr(json: boolean, judge: () => Promise<string>): Promise<number> {
  try {
    process.stdout.write(await judge());
    return ExitCode.OK;
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    const {at, rule} = error;
    process.stdout.write(
      json ? `${JSON.stringify({verified: false, at, rule})}\n` : `REFUSED: ${at}: ${rule}\n`,
    );
    return ExitCode.FAILED;
  }
}

function useRequest<Result>(path: string, use: () => Result): Result {
  try {
    return use();
  } catch (error) {
    const problem = error instanceof SyntaxError ? "it is not JSON" : (error as Error).message;
    throw new WorkError(`cannot use --request ${path}: ${problem}`, {cause: error});
  }
}

function writeVerdict(entries: readonly JudgedEntry[], {root, by}: TrustedRoot): string {
  const lines: string[] = [];
  let slotCount = 0;
  for (const {asked, proven} of entries) {
    lines.push(`account ${asked.address} ${describeAccount(proven.account)}`);
    for (const [i, key] of asked.storageKeys.entries()) {
      const value = proven.slots[i];
      lines.push(
        value === undefined ? `slot ${key} is absent: its value is 0` : `slot ${key} = ${quantity(value)}`,
      );
      slotCount++;
    }
  }
  const slots = slotCount === 0 ? "" : ` and ${count(slotCount, "slot")}`;
  lines.push(
    `VERIFIED: ${count(entries.length, "account")}${slots} under the root ${encodeHex(root)}, ${by}`,
  );
  return `${lines.join("\n")}\n`;
}

/** Absent accounts and slots have no `account` or `value`. */
function encodeVerdict(entries: readonly JudgedEntry[], {root}: TrustedRoot): string {
  const verdict = {
    verified: true,
    root: encodeHex(root),
    entries: entries.map(({asked, proven}) => ({
      address: asked.address,
      exists: proven.account !== undefined,
      ...(proven.account !== undefined && {account: encodeAccountFields(proven.account)}),
      slots: asked.storageKeys.map((key, i) => {
        const value = proven.slots[i];
        return {key, exists: value !== undefined, ...(value !== undefined && {value: quantity(value)})};
      }),
    })),
  };
  return `${JSON.stringify(verdict)}\n`;
}

function describeAccount(account: ProvenEntry["account"]): string {
  if (account === undefined) return "is absent";
  const fields = Object.entries(account).filter(([name]) => name !== "leafIndex");
  return `is present: ${fields.map(([name, value]) => `${name} ${value}`).join(", ")}`;
}

function encodeAccountFields(account: NonNullable<ProvenEntry["account"]>): object {
  const fields = Object.entries(account);
  return Object.fromEntries(
    fields.map(([name, value]) => [name, typeof value === "bigint" ? quantity(value) : value]),
  );
}
