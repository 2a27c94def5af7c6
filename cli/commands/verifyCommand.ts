/** `proofd verify`: checks an answer against a root that the user trusts. It opens no store. */
import {createReadStream} from "node:fs";
import {HASH_SUITES, type HashSuite} from "../../client/hash/hashSuites.ts";
import {ProofError} from "../../client/proof/proofError.ts";
import {WorkError} from "../../service/workError.ts";
import {ExitCode} from "../exitCode.ts";
import type {RootSource, VerifyOptions} from "../flags/verifyFlags.ts";
import {type AnswerForm, parseAnswer} from "./answerForm.ts";
import {chooseEntries, type GivenRequest, parseRequest} from "./askedEntries.ts";
import {judge} from "./judgement.ts";
import {readTrustedRoot} from "./trustedRoot.ts";
import {encodeRefusal, encodeVerdict, writeRefusal, writeVerdict} from "./verdict.ts";

/** A chain_getProof of 1 024 absent slots has 12 MB, a chain_getMultiProof of 10 000 slots about as much. */
const MAX_INPUT_BYTES = 64 * 2 ** 20;

/**
 * @returns the exit code: FAILED if the proof is refused
 * @throws WorkError if the input cannot be read, or the root cannot be found out
 */
export async function runVerify(options: VerifyOptions): Promise<number> {
  const {answer, json} = options;
  const suite = HASH_SUITES.find(({name}) => name === options.suite) as HashSuite;
  const input = await readInput(answer, "the answer");
  const given = "path" in options.request ? await readRequest(options.request.path) : options.request;
  try {
    const form = parseAnswer(input);
    requireStateRoot(form, options.root);
    const asked = chooseEntries(form, given);
    const trusted = await readTrustedRoot(options.root);
    const entries = judge(suite, form, asked, trusted);
    process.stdout.write(json ? encodeVerdict(entries, trusted) : writeVerdict(entries, trusted));
    return ExitCode.OK;
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    process.stdout.write(json ? encodeRefusal(error) : writeRefusal(error));
    return ExitCode.FAILED;
  }
}

function requireStateRoot(form: AnswerForm, {kind}: RootSource): void {
  if (form.kind === "slots" && kind !== "root")
    throw new WorkError(
      `the answer proves slots of a storage tree alone: give the account's storageRoot by --root, not --${kind}, which has state roots`,
    );
}

async function readRequest(path: string): Promise<GivenRequest> {
  const text = (await readInput(path, "the request")).toString();
  try {
    return {entries: parseRequest(JSON.parse(text))};
  } catch (error) {
    const reason = error instanceof ProofError ? error.message : "it is not JSON";
    throw new WorkError(`cannot use --request ${path}: ${reason}`, {cause: error});
  }
}

/** @param what - for messages. @throws WorkError if it cannot be read, or has more than MAX_INPUT_BYTES */
async function readInput(path: string, what: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of path === "-" ? process.stdin : createReadStream(path)) {
      length += (chunk as Buffer).length;
      if (length > MAX_INPUT_BYTES) break;
      chunks.push(chunk as Buffer);
    }
  } catch (error) {
    throw new WorkError(`cannot read ${what} from ${path}: ${(error as Error).message}`, {cause: error});
  }
  if (length > MAX_INPUT_BYTES)
    throw new WorkError(`${what} in ${path} has more than ${MAX_INPUT_BYTES} bytes, the most that is read`);
  return Buffer.concat(chunks);
}
