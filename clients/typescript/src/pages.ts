// A list of the service: awaited, it is its first page; iterated, it is all entries of all pages.
import { PorteroError } from './errors.js';

interface Page {
    data: readonly unknown[];
    pagination: { cursor: string | null; has_more: boolean };
}

export class Pages<P> implements PromiseLike<P>, AsyncIterable<P extends { data: readonly (infer Item)[] } ? Item : never> {
    /** `read` gives the page at a cursor. Nothing is requested before the list is awaited or iterated. */
    constructor(private readonly read: (cursor: string | undefined) => Promise<P>) {}

    then<A = P, B = never>(resolved?: ((page: P) => A | PromiseLike<A>) | null, rejected?: ((error: unknown) => B | PromiseLike<B>) | null): PromiseLike<A | B> {
        return this.read(undefined).then(resolved, rejected);
    }

    /** The pages, one after the other. */
    async* pages(): AsyncGenerator<P, void, undefined> {
        let cursor: string | undefined;
        for (;;) {
            const page = await this.read(cursor);
            yield page;
            const { pagination } = page as Page;
            if (!pagination.has_more) return;
            if (pagination.cursor === null || pagination.cursor === cursor) throw new PorteroError('the list does not advance');
            cursor = pagination.cursor;
        }
    }

    async* [Symbol.asyncIterator](): AsyncGenerator<P extends { data: readonly (infer Item)[] } ? Item : never, void, undefined> {
        for await (const page of this.pages()) yield* (page as Page).data as (P extends { data: readonly (infer Item)[] } ? Item : never)[];
    }
}
