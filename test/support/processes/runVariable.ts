/** Names the run of the suite to every process that it starts: run.ts looks for those that have it, at the end. */
export const RUN_VARIABLE = "TEST_RUN";
