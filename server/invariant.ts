/**
 * Checks a statement that no input can make false. If it is false, the process ends: nothing continues in an unknown state, even if
 * a caller catches the error.
 *
 * @param name - such as "lane proof: tasks under way are not negative"
 */
export function assertInvariant(holds: boolean, name: string): asserts holds {
  if (holds) return;
  const error = new Error(`broken invariant: ${name}`);
  process.nextTick(() => {
    throw error;
  });
  throw error;
}
