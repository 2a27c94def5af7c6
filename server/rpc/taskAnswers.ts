import type {AnswerMemory} from "../../workers/messages/answerMemory.ts";
import type {Answers} from "../../workers/messages/answers.ts";

export interface TaskAnswers extends Answers {
  /** The memory of `text`, which is given back when nobody uses it any more. Without it, the garbage collector frees the memory. */
  readonly memory?: AnswerMemory;
  /** The code that each answer is counted under: 0, or its error's code. Without it, `text` has results only. */
  readonly codes?: readonly number[];
  /** Estimates that were not finished (workers/messages/estimateJob.ts). Default: none. */
  readonly unfinished?: readonly number[];
  /** How many calls, from the first on, were begun (workers/messages/estimateJob.ts). Default: all. */
  readonly begun?: number;
}
