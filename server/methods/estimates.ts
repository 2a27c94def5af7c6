/** Who makes the gas estimates: threads of this process, another node, or nobody. */
import type {EstimateAnswers, EstimateJob} from "../../workers/messages/estimateJob.ts";
import type {Gateway} from "../gateway/gateway.ts";

export type Estimates =
  | {
      readonly kind: "here";
      readonly gasCap: number;
      /** Number of threads for calls with a slice. */
      readonly workers: number;
      readonly timeMs: number;
      readonly estimate: (job: EstimateJob) => Promise<EstimateAnswers>;
    }
  | {readonly kind: "gateway"; readonly gateway: Gateway}
  | {readonly kind: "none"};
