/**
 * Loads a server with requests, and reports throughput, latency, errors and wrong answers (docs/load.md).
 *
 * @module
 */
export {LoadError} from "./loadError.ts";
export type {BlockChoice, BlockEnd, ErrorLimit, KeyChoice, LoadOptions} from "./loadOptions.ts";
export {startLoad} from "./loadRun.ts";
export {compareReport, type EarlierRun, readEarlierRun} from "./report/comparison.ts";
export {writeHtmlReport} from "./report/htmlReport.ts";
export {GENERATOR_WAS_LIMIT, isInconclusive} from "./report/judgement.ts";
export {LiveLine} from "./report/liveLine.ts";
export {encodeReport, type LoadReport} from "./report/loadReport.ts";
export {describeMachine, type Machine, writeMachine} from "./report/machine.ts";
export {writeTextReport} from "./report/textReport.ts";
export {type KnownAccount, numberedAddress} from "./requests/keys.ts";
