/** The server answered, and said what is wrong in a sentence. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    sentence: string,
    readonly retryAfter: number | null = null,
  ) {
    super(sentence);
  }
}

/** No answer came: the server is away, or the connection is. */
export class Unreachable extends Error {}
