/**
 * A proof thread: does jobs until it is told to end, without its event loop: a job that comes as a message costs more
 * than a proof.
 */
import {splitMemories} from "../messages/answerMemory.ts";
import {ProofCounts} from "../messages/proofCounts.ts";
import {
  JobPlace,
  type PostedJob,
  type ProofPost,
  ProveMailbox,
  type ProveMessage,
} from "../messages/proveMailbox.ts";
import {openWorkerStore} from "../threads/workerStore.ts";
import {Prover} from "./prover.ts";
import {JobYieldPoint} from "./yieldPoint.ts";

const {reader} = await openWorkerStore();

export default function work({mailbox, memories, counts, port}: ProofPost): void {
  const jobs = new ProveMailbox(mailbox);
  const all = new ProofCounts(counts);
  const texts = splitMemories(memories);
  /** Writes to nothing of the other's, so it may work amid the other's job. Both share what has been read. */
  const short = new Prover(reader);
  const long = new Prover(
    reader,
    new JobYieldPoint(
      reader.pages,
      () => jobs.hasShort(),
      () => settle(jobs.take() as PostedJob),
    ),
  );
  for (let job = jobs.take(); job !== undefined; job = jobs.take()) settle(job);

  function settle(job: PostedJob): void {
    const prover = job.place === JobPlace.LONG ? long : short;
    const message = answer(prover, job, texts);
    all.add(prover.takeCounts());
    const text = typeof message === "object" && "text" in message ? message.text : undefined;
    port.postMessage(message, text === undefined ? undefined : [text.buffer as ArrayBuffer]);
  }
}

function answer(prover: Prover, job: PostedJob, texts: readonly Buffer[]): ProveMessage {
  const {place, ends} = job;
  const memory = job.memory === undefined ? undefined : texts[job.memory];
  try {
    const {text, failures} = prover.answer(job, memory, ends);
    if (text !== memory) return {place, text, failures};
    return failures.length === 0 ? place : {place, text: undefined, failures};
  } catch (error) {
    return {place, error};
  }
}
