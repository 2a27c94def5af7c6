/**
 * A node contradicts the store, or contradicts what it or another node called final. Another try does not help, so it is not
 * tried again at once: finality stops where it is, until the contradiction is gone.
 */
export class Contradiction extends Error {
  override readonly name = "Contradiction";
}
