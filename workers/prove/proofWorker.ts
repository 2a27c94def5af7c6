/**
 * A proof thread: does jobs until it is told to end, without its event loop: a job that comes as a message costs more
 * than a proof.
 */
import {splitMemories} from "../messages/answerMemory.ts";
import {JobMailbox, JobPlace, type JobPost, type PostedJob, postAnswers} from "../messages/jobMailbox.ts";
import {ProofCounts} from "../messages/proofCounts.ts";
import {openWorkerStore, readWorkerSettings, type WorkerSettings} from "../threads/workerStore.ts";
import {Prover} from "./prover.ts";
import {JobYieldPoint} from "./yieldPoint.ts";

const {reader} = await openWorkerStore();
const counts = new ProofCounts(readWorkerSettings<WorkerSettings & {counts: SharedArrayBuffer}>().counts);

export default function work({mailbox, memories, port}: JobPost): void {
  const jobs = new JobMailbox(mailbox);
  const texts = splitMemories(memories);
  /** Writes to nothing of the other's, so it may work amid the other's job. Both share what has been read. */
  const short = new Prover(reader);
  const long = new Prover(
    reader,
    new JobYieldPoint(
      reader.pages,
      () => jobs.hasShort(),
      () => answer(jobs.take() as PostedJob),
    ),
  );
  for (let job = jobs.take(); job !== undefined; job = jobs.take()) answer(job);

  function answer(job: PostedJob): void {
    const {place, ends} = job;
    const prover = place === JobPlace.LONG ? long : short;
    const memory = job.memory === undefined ? undefined : texts[job.memory];
    try {
      const answers = prover.answer(job, memory, ends);
      counts.add(prover.takeCounts());
      postAnswers(port, place, answers, memory);
    } catch (error) {
      counts.add(prover.takeCounts());
      port.postMessage({place, error});
    }
  }
}
