// The framing cases: [name, bytes, expected replies, 'open' or 'closed']. An expected reply is "200" or "400 CODE".
// `get` is an authenticated GET that answers 200, `post` a public POST that answers 400 INVALID_JSON to a body that is no
// object: so each reply tells which bytes were read as a request.

export function framingCases({ get, post, key, proto = '' }) {
    const H = 'Host: localhost\r\n';
    const A = `Authorization: Bearer ${key}\r\n${proto}`;
    const G = `GET ${get} HTTP/1.1`;
    const P = `POST ${post} HTTP/1.1`;
    const req = (first, headers, body = '') => `${first}\r\n${H}${A}${headers}\r\n${body}`;
    const G2 = `${G}\r\n${H}${A}\r\n`;
    const CT = 'Content-Type: application/json\r\n';
    const S = '"abc"'; // five bytes, JSON, no object
    const chunked = `${CT}Transfer-Encoding: chunked\r\n`;
    const OK = '200';
    const READ = '400 INVALID_JSON'; // the body was read, as those five bytes
    const BAD = '400 BAD_REQUEST';
    const refuse = (...codes) => [codes.length ? codes : [BAD], 'closed'];
    const CODING = ['501 NOT_IMPLEMENTED', BAD];

    return [
        ['baseline GET', G2, [OK], 'open'],
        ['baseline POST', req(P, `${CT}Content-Length: 5\r\n`, S), [READ], 'open'],
        ['three GETs pipelined', G2.repeat(3), [OK, OK, OK], 'open'],
        ['POST and GET pipelined', req(P, `${CT}Content-Length: 5\r\n`, S) + G2, [READ, OK], 'open'],
        ['the same Content-Length twice', req(P, 'Content-Length: 5\r\nContent-Length: 5\r\n', S) + G2, ...refuse()],
        ['Content-Length 5 and 10', req(P, 'Content-Length: 5\r\nContent-Length: 10\r\n', S) + G2, ...refuse()],
        ['Content-Length 10 and 5', req(P, 'Content-Length: 10\r\nContent-Length: 5\r\n', S) + G2, ...refuse()],
        ['Content-Length list', req(P, 'Content-Length: 5, 5\r\n', S) + G2, ...refuse()],
        ['Content-Length +5', req(P, 'Content-Length: +5\r\n', S) + G2, ...refuse()],
        ['Content-Length -1', req(P, 'Content-Length: -1\r\n', S) + G2, ...refuse()],
        ['Content-Length 0x5', req(P, 'Content-Length: 0x5\r\n', S) + G2, ...refuse()],
        ['Content-Length 5abc', req(P, 'Content-Length: 5abc\r\n', S) + G2, ...refuse()],
        ['Content-Length empty', req(P, 'Content-Length:\r\n') + G2, ...refuse()],
        ['Content-Length 2^64+5', req(P, 'Content-Length: 18446744073709551621\r\n', S) + G2, ...refuse(BAD, '413 PAYLOAD_TOO_LARGE')],
        ['Content-Length and chunked', req(P, 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', `5\r\n${S}\r\n0\r\n\r\n`) + G2, ...refuse()],
        ['chunked and Content-Length', req(P, 'Transfer-Encoding: chunked\r\nContent-Length: 6\r\n', '0\r\n\r\nX') + G2, ...refuse()],
        ['chunked', req(P, chunked, `5\r\n${S}\r\n0\r\n\r\n`) + G2, [READ, OK], 'open'],
        ['chunked, in any case', req(P, `${CT}Transfer-Encoding: Chunked\r\n`, `5\r\n${S}\r\n0\r\n\r\n`) + G2, [READ, OK], 'open'],
        ['xchunked', req(P, 'Transfer-Encoding: xchunked\r\n', `5\r\n${S}\r\n0\r\n\r\n`) + G2, ...refuse(...CODING)],
        ['chunked, identity', req(P, 'Transfer-Encoding: chunked, identity\r\n', `5\r\n${S}\r\n0\r\n\r\n`) + G2, ...refuse(...CODING)],
        ['gzip, chunked', req(P, 'Transfer-Encoding: gzip, chunked\r\n', `5\r\n${S}\r\n0\r\n\r\n`) + G2, ...refuse(...CODING)],
        ['chunked and identity in two fields', req(P, 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n', `5\r\n${S}\r\n0\r\n\r\n`) + G2, ...refuse(...CODING)],
        ['a space before the colon', req(P, 'Transfer-Encoding : chunked\r\nContent-Length: 5\r\n', S) + G2, ...refuse()],
        ['a vertical tab before chunked', req(P, 'Transfer-Encoding: \x0bchunked\r\nContent-Length: 5\r\n', S) + G2, ...refuse()],
        ['HTTP/1.0 chunked', req(`POST ${post} HTTP/1.0`, 'Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n', `5\r\n${S}\r\n0\r\n\r\n`), ...refuse()],
        ['chunk size +5', req(P, chunked, `+5\r\n${S}\r\n0\r\n\r\n`) + G2, ...refuse()],
        ['chunk size 0x5', req(P, chunked, `0x5\r\n${S}\r\n0\r\n\r\n`) + G2, ...refuse()],
        ['chunk size empty', req(P, chunked, `\r\n${S}\r\n0\r\n\r\n`) + G2, ...refuse()],
        ['a chunk extension', req(P, chunked, `5;ext=1\r\n${S}\r\n0\r\n\r\n`) + G2, [READ, OK], 'open'],
        ['chunk size 2^64+5', req(P, chunked, `10000000000000005\r\n${S}\r\n0\r\n\r\n`) + G2, ...refuse(BAD, '413 PAYLOAD_TOO_LARGE')],
        ['chunks with bare LF', req(P, chunked, `5\n${S}\n0\n\n`) + G2, ...refuse()],
        ['chunk data without its end', req(P, chunked, `5\r\n${S}XX0\r\n\r\n`) + G2, ...refuse()],
        ['trailers, which are discarded', req(P, chunked, `5\r\n${S}\r\n0\r\nContent-Length: 50\r\nAuthorization: x\r\n\r\n`) + G2, [READ, OK], 'open'],
        ['a folded header', req(G, 'X-A: b\r\n  folded\r\n'), ...refuse()],
        ['a folded Transfer-Encoding', req(P, 'Transfer-Encoding:\r\n chunked\r\nContent-Length: 5\r\n', S) + G2, ...refuse()],
        ['bare LF everywhere', G2.replace(/\r\n/g, '\n'), ...refuse()],
        ['bare LF in one header', req(G, 'X-A: b\nX-B: c\r\n'), ...refuse()],
        ['bare CR in a value', req(G, 'X-A: b\rX-B: c\r\n'), ...refuse()],
        ['NUL in a value', req(G, 'X-A: b\x00c\r\n'), ...refuse()],
        ['NUL in a name', req(G, 'X-\x00A: b\r\n'), ...refuse()],
        ['NUL in Authorization', `${G}\r\n${H}Authorization: Bearer ${key}\x00garbage\r\n\r\n`, ...refuse()],
        ['NUL in the target', `GET ${get}\x00y HTTP/1.1\r\n${H}${A}\r\n`, ...refuse()],
        ['a control character in a value', req(G, 'X-A: b\x01c\r\n'), ...refuse()],
        ['a header without a colon', req(G, 'JunkLine\r\n'), ...refuse()],
        ['an empty header name', req(G, ': v\r\n'), ...refuse()],
        ['a space before the first header', `${G}\r\n ${H}${A}\r\n`, ...refuse()],
        ['no Host', `${G}\r\n${A}\r\n`, ...refuse()],
        ['two Hosts', req(G, 'Host: other\r\n'), ...refuse()],
        ['HTTP/1.9, which is read as 1.1', req(`GET ${get} HTTP/1.9`, ''), [OK], 'open'],
        ['HTTP/2.0', req(`GET ${get} HTTP/2.0`, ''), ...refuse('505 HTTP_VERSION', BAD)],
        ['HTTP/11.1', req(`GET ${get} HTTP/11.1`, ''), ...refuse('505 HTTP_VERSION', BAD)],
        ['no version', `GET ${get}\r\n${H}${A}\r\n`, ...refuse()],
        ['two spaces in the request line', req(`GET  ${get} HTTP/1.1`, ''), ...refuse()],
        ['a tab in the request line', req(`GET\t${get} HTTP/1.1`, ''), ...refuse()],
        ['the absolute form', req(`GET http://localhost${get} HTTP/1.1`, ''), [OK], 'open'],
        ['empty lines before the request', `\r\n\r\n${G2}`, [OK], 'open'],
        ['GET with a body', req(G, 'Content-Length: 5\r\n', S) + G2, [OK, OK], 'open'],
        ['a target of 20 KB', req(`GET ${get}?${'q'.repeat(20000)} HTTP/1.1`, ''), ...refuse('414 URI_TOO_LONG')],
        ['a header of 20 KB', req(G, `X-Big: ${'q'.repeat(20000)}\r\n`), ...refuse('431 HEADERS_TOO_LARGE')],
        ['1000 headers', req(G, Array.from({ length: 1000 }, (_, i) => `X${i}: abcd\r\n`).join('')), ...refuse('431 HEADERS_TOO_LARGE')],
        ['150 headers', req(G, Array.from({ length: 150 }, (_, i) => `X${i}: abcd\r\n`).join('')), ...refuse('431 HEADERS_TOO_LARGE')],
        ['90 headers', req(G, Array.from({ length: 90 }, (_, i) => `X${i}: abcd\r\n`).join('')), [OK], 'open'],
        ['Content-Length 200000 without the body', req(P, `${CT}Content-Length: 200000\r\n`), ...refuse('413 PAYLOAD_TOO_LARGE')],
        ['Content-Length 200000 with the body', req(P, `${CT}Content-Length: 200000\r\n`, 'x'.repeat(200000)) + G2, ...refuse('413 PAYLOAD_TOO_LARGE')],
        ['200000 bytes in chunks', req(P, chunked, `${`2710\r\n${'x'.repeat(10000)}\r\n`.repeat(20)}0\r\n\r\n`) + G2, ...refuse('413 PAYLOAD_TOO_LARGE')],
        ['exactly 102400 bytes', req(P, `${CT}Content-Length: 102400\r\n`, 'x'.repeat(102400)) + G2, [READ, OK], 'open'],
        ['exactly 102400 bytes in chunks', req(P, chunked, `19000\r\n${'x'.repeat(102400)}\r\n0\r\n\r\n`) + G2, [READ, OK], 'open'],
        ['Expect 100-continue and too large', req(P, `${CT}Expect: 100-continue\r\nContent-Length: 200000\r\n`), ...refuse('413 PAYLOAD_TOO_LARGE')],
        ['Expect of something else', req(P, `${CT}Expect: bogus\r\nContent-Length: 5\r\n`, S), ...refuse('417 EXPECTATION_FAILED')],
        ['POST without a body', req(P, CT) + G2, [READ, OK], 'open'],
        ['HTTP/1.0 GET', req(`GET ${get} HTTP/1.0`, ''), [OK], 'closed'],
        ['HTTP/1.0 GET with keep-alive', req(`GET ${get} HTTP/1.0`, 'Connection: keep-alive\r\n'), [OK], 'any'],
        ['Connection: close', req(G, 'Connection: close\r\n') + G2, [OK], 'closed'],
        ['a method in lower case', req(`get ${get} HTTP/1.1`, '') + G2, ['405 METHOD_NOT_ALLOWED', OK], 'open'],
        ['an unknown method', req(`FOO ${get} HTTP/1.1`, '') + G2, ['405 METHOD_NOT_ALLOWED', OK], 'open'],
        ['Authorization twice', req(G, 'Authorization: Bearer nope\r\n') + G2, ['401 AUTH_REQUIRED', OK], 'open'],
    ];
}
