// The manual pages and the completions, which the build makes from the tables of commands and of configuration keys.
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { binary, build, client, commands, filesBelow, options, read, run, temporary, top, verbs } from './lib.js';

const share = join(build, 'share');
const page = (file) => run('man', ['-l', join(share, file)], { env: { ...process.env, LC_ALL: 'C.UTF-8', MANWIDTH: '500', MANPAGER: 'cat', MAN_KEEP_FORMATTING: '' } }).stdout;
const pages = filesBelow(share).filter((file) => file.startsWith('man'));
const services = commands(), clients = commands(client);
/** Each command with its program. */
const all = [...clients.map((command) => [client, 'portero', command]), ...services.map((command) => [binary, 'porterod', command])];

describe('manual pages', () => {
    it('have no fault that man reports', () => {
        for (const file of pages) {
            const done = run('man', ['--warnings', '-E', 'UTF-8', '-l', '-Tutf8', '-Z', join(share, file)], { env: { ...process.env, LC_ALL: 'C.UTF-8', MANROFFSEQ: '' } });
            assert.equal(done.stderr, '', file);
        }
    });

    it('are without warnings for mandoc', () => {
        for (const file of pages) {
            const done = spawnSync('mandoc', ['-T', 'lint', '-W', 'warning', join(share, file)], { encoding: 'utf8' });
            assert.equal(done.stdout, '', file);
            assert.equal(done.status, 0, file);
        }
    });

    it('are one for each command, with every verb and option', () => {
        for (const [path, program, command] of all) {
            assert.match(page(`man1/${program}.1`), new RegExp(`^ +${command}( |$)`, 'm'));
            const text = page(`man1/${program}-${command}.1`);
            for (const option of options([command], path)) assert.match(text, new RegExp(`^ +(-h, )?${option}\\b`, 'm'), `${command} ${option}`);
        }
        const admin = page('man1/porterod-admin.1');
        for (const verb of verbs()) {
            const section = admin.split(`\n   ${verb.join(' ')}\n`)[1]?.split(/\n {3}\S/)[0];
            assert.ok(section, verb.join(' '));
            for (const option of options(['admin', ...verb])) assert.ok(`${section}${admin.split('\nCOMMANDS')[0]}`.includes(` ${option}`), `${verb.join(' ')} ${option}`);
        }
        assert.equal(pages.length, all.length + 3);
    });

    it('explain every configuration key of portero.conf, with its default', () => {
        const text = page('man5/portero.conf.5');
        const keys = [...read('portero.conf').matchAll(/^ *#?([a-z0-9_]+) = (.+)$/gm)];
        assert.ok(keys.length > 100);
        for (const [, key] of keys) assert.match(text, new RegExp(`^ +${key}( = .*)?( +[a-zA-Z0-9].*)?$`, 'm'), key);
        assert.match(text, /^ +calls_per_source = 100$/m);
        assert.match(text, /^ +master_key = ""$[^=]+\(secret\)$/m);
        for (const section of new Set([...read('portero.conf').matchAll(/^([a-z]+) \{/gm)].map((found) => found[1]))) assert.ok(text.includes(`\nSECTION ${section}\n`), section);
    });
});

describe('completions', () => {
    const work = temporary();
    run('sh', ['-c', 'mkdir somewhere && touch some.conf'], { cwd: work });

    /** The words that bash offers at the end of the line, through COMP_WORDS as the shell sets it. */
    function bash(line) {
        const [program] = line.split(' ');
        const words = line.split(/ |(?<==)|(?==)/);
        const script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); "_$1"; printf "%s\\n" "${COMPREPLY[@]}"';
        const done = run('bash', ['-c', script, 'bash', join(share, 'bash', program), ...words], { cwd: work });
        assert.equal(done.stderr, '');
        return done.stdout.split('\n').filter(Boolean).sort();
    }
    const fish = (line) => run('fish', ['-c', 'source $argv[1]; complete -C $argv[2]', join(share, `fish/${line.split(' ')[0]}.fish`), line], { cwd: work, env: { ...process.env, HOME: work } })
        .stdout.split('\n').filter(Boolean).map((offer) => offer.split('\t')[0]).sort();

    /** The list of zsh. It completes in a terminal only, so it gets one, and the line once it edits; after the list it shows the line again. */
    function zsh(line) {
        const script = `zmodload zsh/zpty
            zpty z zsh -f -i
            zpty -w z "PS1=; fpath=($1 \\$fpath); autoload -Uz compinit; compinit -u -D; LISTMAX=1000; bindkey '^I' list-choices; zle-line-init() { print rea''dy }; zle -N zle-line-init"
            zpty -r z out '*ready*'
            zpty -w -n z "$2"$'\\t'
            zpty -r z out "*$2*[[:cntrl:]]$2*"
            print -r -- $out
            zpty -d z`;
        const done = run('zsh', ['-f', '-c', script, 'zsh', join(share, 'zsh'), line], { cwd: work, timeout: 60_000, env: { ...process.env, TERM: 'dumb', COLUMNS: '200', HOME: work } });
        return done.stdout.replace(/\x1b\[[?0-9;]*[a-zA-Z]/g, '');
    }

    it('of bash offer commands, verbs, options and values', () => {
        assert.deepEqual(bash('portero '), [...clients, 'help', '--help', '--version'].sort());
        assert.deepEqual(bash('porterod '), [...services, 'help', '--help', '--version'].sort());
        assert.deepEqual(bash('portero ser'), ['service']);
        assert.deepEqual(bash('porterod help adm'), ['admin']);
        for (const [path, program, command] of all) assert.deepEqual(bash(`${program} ${command} --`), options([command], path).sort(), command);
        for (const verb of verbs()) assert.deepEqual(bash(`porterod admin ${verb.join(' ')} --`), options(['admin', ...verb]).sort(), verb.join(' '));
        for (const noun of new Set(verbs().map((verb) => verb[0]))) assert.ok(bash('porterod admin ').includes(noun), noun);
        assert.deepEqual(bash('porterod admin key c'), ['create']);
        assert.deepEqual(bash('porterod admin --json key c'), ['create']);
        assert.deepEqual(bash('porterod serve --config some'), ['some.conf', 'somewhere']);
        assert.deepEqual(bash('porterod serve --config=some'), ['some.conf', 'somewhere']);
        assert.deepEqual(bash('porterod serve --data some'), ['somewhere']);
        assert.deepEqual(bash('porterod serve --https '), []);
        assert.deepEqual(bash('porterod serve --config some.conf --ht'), ['--http', '--https']);
        assert.deepEqual(bash('porterod admin greeting set some'), ['some.conf', 'somewhere']);
        assert.deepEqual(bash('portero unlock create --'), options(['unlock', 'create'], client).sort());
        assert.deepEqual(bash('portero unlock create --type '), ['passcode', 'routine', 'timer']);
        assert.deepEqual(bash('portero unlock create --type=p'), ['passcode']);
        assert.deepEqual(bash('portero unlock link '), ['--help', 'create', 'delete', 'show']);
        assert.deepEqual(bash('portero log '), ['--help', 'list', 'tail']);
    });

    it('of fish offer the same', () => {
        for (const [, program, command] of all) assert.ok(fish(`${program} `).includes(command), command);
        assert.deepEqual(fish('porterod admin key '), ['create']);
        for (const verb of verbs()) assert.deepEqual(fish(`porterod admin ${verb.join(' ')} --`), options(['admin', ...verb]).sort(), verb.join(' '));
        assert.deepEqual(fish('porterod serve --config some'), ['some.conf', 'somewhere/']);
        assert.deepEqual(fish('portero unlock create --'), options(['unlock', 'create'], client).sort());
        assert.deepEqual(fish('portero unlock create --type '), ['passcode', 'routine', 'timer']);
        assert.deepEqual(fish('portero unlock link '), ['create', 'delete', 'show']);
    });

    it('of zsh offer the same', () => {
        for (const [program, commandsOf] of [['portero', clients], ['porterod', services]]) {
            run('zsh', ['-n', join(share, `zsh/_${program}`)]);
            const listed = zsh(`${program} `);
            // Commands that say the same share a line.
            for (const command of commandsOf) assert.match(listed, new RegExp(`^([a-z-]+ +)*${command}( +[a-z-]+)* +--`, 'm'), command);
        }
        assert.match(zsh('porterod admin key '), /^create +-- Issue a key/m);
        const offered = zsh('porterod admin key create --');
        for (const option of options(['admin', 'key', 'create'])) assert.ok(offered.includes(option), `${option} in ${JSON.stringify(offered)}`);
        for (const verb of ['create', 'list', 'revoke', 'update']) assert.match(zsh('portero unlock '), new RegExp(`^${verb} +-- `, 'm'));
        assert.match(zsh('portero unlock create --type '), /passcode +routine +timer/);
    });
});
