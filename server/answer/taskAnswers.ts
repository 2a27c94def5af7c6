/** What a task comes back with. */
import type {Answers} from "../../workers/job/answers.ts";
import type {AnswerMemory} from "./answerMemory.ts";

export interface TaskAnswers extends Answers {
  /** Takes over the memory of `text` when nobody uses it any more; left out: the garbage collector does. */
  readonly memory?: AnswerMemory;
  /** What each answer is counted as: 0 or its error's code. Left out: `text` has results only. */
  readonly codes?: readonly number[];
  /** Estimates (workers/job/estimateJob.ts); left out: none, and all. */
  readonly unfinished?: readonly number[];
  readonly begun?: number;
}
