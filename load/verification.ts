/** Verifies a sample of the answers after the load, so that it takes nothing from it. */
import type {Random} from "./random.ts";
import type {Style} from "./requestMaker.ts";
import type {Sample} from "./sampler.ts";
import type {TrustedRoots} from "./trustedRoots.ts";
import {verifyChainProof} from "./verifyChain.ts";
import {verifyChainEstimate, verifyEthEstimate} from "./verifyEstimate.ts";
import {verifyEthProof} from "./verifyEth.ts";

export interface WrongAnswer {
  /** The call that was asked. */
  readonly call: string;
  readonly reason: string;
}

export interface Verification {
  /** Calls whose result was checked. */
  readonly checked: number;
  readonly wrong: number;
  /** The first few. */
  readonly wrongAnswers: readonly WrongAnswer[];
  /** Why nothing was checked; null where something was to be. */
  readonly skipped: string | null;
}

const SHOWN = 5;
const CALL_CHARACTERS = 300;

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

interface CheckedCall {
  readonly call: Call;
  readonly result: unknown;
}

/**
 * @param count - calls to check, as evenly over the answers as can be
 * @throws RpcAnswerError, LoadError where the server does not give the roots
 */
export async function verifySamples(
  samples: readonly Sample[],
  count: number,
  style: Style,
  roots: TrustedRoots,
  random: Random,
): Promise<Verification> {
  const calls = chooseCalls(samples, count, random);
  const proofs = calls.filter(({call}) => call.method.endsWith("_getProof"));
  const blocks = proofs.map(({call}) => readBlock(call)).filter(block => block !== null);
  if (proofs.length > 0) await roots.read(blocks, blocks.length < proofs.length);
  const wrongAnswers: WrongAnswer[] = [];
  let wrong = 0;
  for (const {call, result} of calls) {
    try {
      await verifyCall(style, call, result, roots);
    } catch (error) {
      wrong++;
      if (wrongAnswers.length < SHOWN) {
        const text = JSON.stringify(call).slice(0, CALL_CHARACTERS);
        wrongAnswers.push({call: text, reason: (error as Error).message});
      }
    }
  }
  return {checked: calls.length, wrong, wrongAnswers, skipped: null};
}

/** In turns a random call of each answer. */
function chooseCalls(samples: readonly Sample[], count: number, random: Random): CheckedCall[] {
  const chosen: CheckedCall[] = [];
  let rest = samples.map(readResults);
  while (chosen.length < count && rest.length > 0) {
    rest = rest.filter(calls => calls.length > 0);
    for (const calls of rest) chosen.push(...calls.splice(random.below(calls.length), 1));
  }
  return chosen.slice(0, count);
}

/** The calls of a request that got a result; those with an error are counted elsewhere. */
function readResults(sample: Sample): CheckedCall[] {
  const asked = [JSON.parse(sample.request)].flat() as readonly Call[];
  const answers = [JSON.parse(Buffer.from(sample.answer).toString("utf8"))].flat() as readonly {
    id?: unknown;
    result?: unknown;
  }[];
  const byId = new Map(answers.map(answer => [answer.id, answer]));
  return asked
    .filter(({id}) => Object.hasOwn(byId.get(id) ?? {}, "result"))
    .map(call => ({call, result: byId.get(call.id)?.result}));
}

/** @returns null for the tag "latest" */
function readBlock({params}: Call): number | null {
  return params[2] === "latest" ? null : Number(params[2]);
}

async function verifyCall(style: Style, call: Call, result: unknown, roots: TrustedRoots): Promise<void> {
  if (call.method === "chain_estimateGas") return verifyChainEstimate(result);
  if (call.method === "eth_estimateGas") return verifyEthEstimate(result);
  const [address, slots] = call.params as [string, readonly string[]];
  const trusted = roots.rootsOf(readBlock(call));
  if (style === "chain") verifyChainProof(trusted, address, slots, result);
  else await verifyEthProof(trusted, address, slots, result);
}
