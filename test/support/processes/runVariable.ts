/** Marks every process that a run of the suite starts. At the end run.ts looks for processes that still carry it. */
export const RUN_VARIABLE = "TEST_RUN";
