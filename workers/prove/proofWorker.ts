/**
 * A proof thread: opens the store once, then does jobs until it is told to end. It does not return to its event loop between two
 * jobs, because a job that comes as a message costs more than a proof.
 */
import {splitMemories} from "../messages/answerMemory.ts";
import {ProofCounts} from "../messages/proofCounts.ts";
import {type PostedJob, type ProofPost, ProveMailbox, type ProveMessage} from "../messages/proveMailbox.ts";
import {openWorkerStore} from "../threads/workerStore.ts";
import {Prover} from "./prover.ts";

const prover = new Prover((await openWorkerStore()).reader);

export default function work({mailbox, memories, counts, port}: ProofPost): void {
  const jobs = new ProveMailbox(mailbox);
  const all = new ProofCounts(counts);
  const texts = splitMemories(memories);
  for (let job = jobs.take(); job !== undefined; job = jobs.take()) {
    const message = answer(job, texts);
    all.add(prover.takeCounts());
    const text = message !== undefined && "text" in message ? message.text : undefined;
    port.postMessage(message, text === undefined ? undefined : [text.buffer as ArrayBuffer]);
  }
}

function answer(job: PostedJob, texts: readonly Buffer[]): ProveMessage {
  const memory = job.memory === undefined ? undefined : texts[job.memory];
  try {
    const {text, failures} = prover.answer(job, memory, job.ends);
    if (text !== memory) return {text, failures};
    return failures.length === 0 ? undefined : {text: undefined, failures};
  } catch (error) {
    return {error};
  }
}
