/**
 * A proof thread: opens the store once, then answers tasks.
 */
import {move, transferableSymbol, valueSymbol} from "piscina";
import type {Answers} from "../job/answers.ts";
import type {ProveJob} from "../job/proveJob.ts";
import {openWorkerStore} from "../thread/workerStore.ts";
import {TRANSFER_BYTES} from "./answerText.ts";
import {Prover} from "./prover.ts";

const prover = new Prover((await openWorkerStore()).reader);

export default function prove(job: ProveJob): Answers | ReturnType<typeof move> {
  const answers = prover.answer(job);
  const {text, unused} = answers;
  const transferred: ArrayBufferLike[] = text.length < TRANSFER_BYTES ? [] : [text.buffer];
  if (unused !== undefined) transferred.push(unused);
  if (transferred.length === 0) return answers;
  return move({[transferableSymbol]: transferred, [valueSymbol]: answers});
}
