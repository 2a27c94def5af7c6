/**
 * Proofs through the engine: the trip to a thread and back, and how much one and two busy threads prove.
 *
 * Input: accounts of block 0 at the head. A busy thread has two tasks of 128 proofs in flight, each with memory for its
 * answer like the server's. This process's main thread hands them out, so two threads on two cores cannot quite do twice as
 * much as one.
 */
import {createAnswerMemory} from "../../server/dispatch/lanes/proofLane.ts";
import {Engine} from "../../workers/engine.ts";
import {addressAt} from "./benchChain.ts";
import {type BenchStore, CACHE_BYTES} from "./benchStore.ts";
import {CALLS_PER_TASK, packCalls} from "./proveJobs.ts";
import {type BenchTask, type Stage, spread} from "./stage.ts";
import {TaskStream} from "./taskStream.ts";

/** Made in advance. Together they have as many accounts as the other stages use, or all of a small store. */
const MOST_JOBS = 256;
const IN_FLIGHT_PER_WORKER = 2;
const TASKS_PER_RUN = 8;

export async function createWorkerStage({directory, accounts, blocks}: BenchStore): Promise<Stage> {
  const openPool = (workers: number): Promise<Engine> =>
    // The bench's own handle is already the store's owner.
    Engine.open({directory, workers, cacheBytes: CACHE_BYTES, createIfMissing: false, readOnly: true});
  const one = await openPool(1);
  const two = await openPool(2);
  const jobCount = Math.min(MOST_JOBS, Math.ceil(accounts / CALLS_PER_TASK));
  let round = 0;
  const makeJobs = (calls: number) =>
    Array.from({length: jobCount}, () =>
      packCalls(calls, () => ({block: blocks, address: addressAt(spread(round++, accounts))})),
    );
  const trip = (name: string, calls: number): BenchTask => {
    const jobs = makeJobs(calls);
    return {name, units: 1, run: async () => one.prove(jobs[round++ % jobCount] as (typeof jobs)[0])};
  };
  const busyJobs = makeJobs(CALLS_PER_TASK);
  const memory = createAnswerMemory();
  const proveOne = async (engine: Engine): Promise<void> => {
    const job = busyJobs[round++ % jobCount] as (typeof busyJobs)[0];
    const {unused, text} = await engine.prove({...job, memory: memory.take()});
    memory.put(unused ?? (text.buffer as ArrayBuffer));
  };
  const busy = (name: string, engine: Engine): BenchTask => {
    const stream = new TaskStream(() => proveOne(engine), engine.workers * IN_FLIGHT_PER_WORKER);
    return {
      name,
      units: TASKS_PER_RUN * CALLS_PER_TASK,
      run: async () => stream.take(TASKS_PER_RUN),
      hooks: {
        beforeAll: async () => {
          stream.start();
          // By then each thread has looked for most keys, like a server's threads after some minutes.
          await stream.take(jobCount * engine.workers);
        },
        afterAll: () => stream.stop(),
      },
    };
  };
  const [busyOne, busyTwo] = [
    busy("proofs, 1 thread kept busy", one),
    busy("proofs, 2 threads kept busy", two),
  ];
  return {
    tasks: [
      trip("trip of an empty job", 0),
      trip("trip of a job of 1 proof", 1),
      trip(`trip of a job of ${CALLS_PER_TASK} proofs`, CALLS_PER_TASK),
      busyOne,
      busyTwo,
    ],
    figures: results => {
      const perSecond = ({name}: BenchTask): number =>
        results.find(result => result.name === name)?.perSecond ?? 0;
      return [
        {
          name: "2 threads to 1 (target on 2 cores: 1.8)",
          value: perSecond(busyTwo) / perSecond(busyOne),
          unit: "times",
        },
      ];
    },
    close: async () => {
      await one.close();
      await two.close();
    },
  };
}
