/** The texts of a page in its language, by scripts/webgen. */
declare module 'texts' {
    const texts: Record<string, string>;
    export default texts;
}
