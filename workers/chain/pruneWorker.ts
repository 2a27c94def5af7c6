/** Searches for pages to remove, and writes nothing. A new thread in its place starts over and finds the rest. */
import type {PruneRun} from "../../storage/prune/pruneRecord.ts";
import {STEP_PAGES} from "../../storage/prune/pruneWriter.ts";
import type {PageWalk} from "../../storage/prune/replacedPages.ts";
import {unreachedPages} from "../../storage/prune/unreachedPages.ts";
import type {FoundPages, PruneJob} from "../messages/pruneJob.ts";
import {Niceness, yieldToOtherThreads} from "../threads/threadPriority.ts";
import {openWorkerStore} from "../threads/workerStore.ts";

/** Limits a job, so that a service that stops need not wait for the whole search. */
const JOB_MS = 50;
/** Pages between two looks at the clock. */
const PAGES_PER_LOOK = 64;

yieldToOtherThreads(Niceness.PRUNE);
const {reader} = await openWorkerStore();
let search: {readonly run: PruneRun; readonly pages: PageWalk} | undefined;

export default async function findPages({run, restarts}: PruneJob): Promise<FoundPages> {
  if (restarts || search?.run.first !== run.first || search.run.next !== run.next)
    search = {run, pages: await unreachedPages(reader, run)};
  const {pages} = search;
  const found: number[] = [];
  const startMs = performance.now();
  for (let read = 0; found.length < STEP_PAGES; read++) {
    const {done, value} = pages.next();
    if (done === true) {
      search = undefined;
      return {pages: Float64Array.from(found), isDone: true};
    }
    if (value !== undefined) found.push(value);
    if (read % PAGES_PER_LOOK === 0 && performance.now() - startMs > JOB_MS) break;
  }
  return {pages: Float64Array.from(found), isDone: false};
}
