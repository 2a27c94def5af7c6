/** Verifies a sample of the answers, after the load, so that it does not slow the load down. */
import {LoadError} from "../loadError.ts";
import type {Style} from "../loadOptions.ts";
import type {Random} from "../requests/random.ts";
import type {Sample} from "../traffic/recorder.ts";
import {RpcAnswerError} from "./rpcClient.ts";
import type {TrustedRoots} from "./trustedRoots.ts";
import {verifyEstimate} from "./verifyEstimate.ts";
import {type Presence, verifyAnswer} from "./verifyProofs.ts";

/** If everything is absent, the answers may be right, but the load probably asked for the wrong keys. */
function countPresence(present: readonly boolean[]) {
  const count = present.filter(isPresent => isPresent).length;
  return {present: count, absent: present.length - count};
}

export type Verification = Awaited<ReturnType<typeof verifyCalls>>;

export function createSkipped(reason: string): Verification {
  const none = countPresence([]);
  const counts = {checked: 0, wrong: 0, wrongAnswers: [], accounts: none, slots: none, estimates: 0};
  return {...counts, skipped: reason};
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

/** @param count - calls to verify, spread evenly over the answers */
export async function verifySamples(
  samples: readonly Sample[],
  count: number,
  style: Style,
  roots: TrustedRoots,
  random: Random,
): Promise<Verification> {
  if (samples.length === 0) return createSkipped("there was no result");
  try {
    return await verifyCalls(chooseCalls(samples, count, random), style, roots);
  } catch (error) {
    if (!(error instanceof LoadError) && !(error instanceof RpcAnswerError)) throw error;
    return createSkipped(`the state roots could not be read after the load: ${error.message}`);
  }
}

async function verifyCalls(calls: readonly CheckedCall[], style: Style, roots: TrustedRoots) {
  const proofs = calls.filter(({call}) => isProof(call));
  const blocks = proofs.map(({call}) => readBlock(call)).filter(block => block !== undefined);
  if (proofs.length > 0) await roots.read(blocks, blocks.length < proofs.length);
  const wrongAnswers: {call: string; reason: string}[] = [];
  const proven: Presence[] = [];
  let estimates = 0;
  for (const {call, result} of calls) {
    try {
      if (isProof(call)) {
        const [address, slots] = call.params as [string, readonly string[]];
        proven.push(verifyAnswer(style, roots.rootsOf(readBlock(call)), address, slots, result));
      } else {
        verifyEstimate(style, result);
        estimates++;
      }
    } catch (error) {
      const text = JSON.stringify(call).slice(0, CALL_CHARACTERS);
      wrongAnswers.push({call: text, reason: (error as Error).message});
    }
  }
  return {
    /** Calls whose result was checked. */
    checked: calls.length,
    wrong: wrongAnswers.length,
    /** The first few. */
    wrongAnswers: wrongAnswers.slice(0, SHOWN),
    /** Accounts and slots that the correct answers prove to exist or to be absent. */
    accounts: countPresence(proven.map(({account}) => account)),
    slots: countPresence(proven.flatMap(({slots}) => slots)),
    /** Well-formed estimates. Their values cannot be verified. */
    estimates,
    /** Why nothing was checked; undefined if something was. */
    skipped: undefined as string | undefined,
  };
}

/** Chooses random calls, round robin over the answers. */
function chooseCalls(samples: readonly Sample[], count: number, random: Random): CheckedCall[] {
  const chosen: CheckedCall[] = [];
  let rest = samples.map(readResults);
  while (chosen.length < count && rest.length > 0) {
    rest = rest.filter(calls => calls.length > 0);
    for (const calls of rest) chosen.push(...calls.splice(random.below(calls.length), 1));
  }
  return chosen.slice(0, count);
}

/** The calls of a request that got a result. */
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

/** @returns undefined for the tag "latest" */
function readBlock({params}: Call): number | undefined {
  return params[2] === "latest" ? undefined : Number(params[2]);
}

function isProof({method}: Call): boolean {
  return method.endsWith("_getProof");
}
