/** By the clock a call may take so many times its limit, however little of a processor it got. */
export const MAX_STRETCH = 4;
