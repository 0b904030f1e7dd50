#compdef turnbuckle
# Completion of turnbuckle for zsh: the program itself knows what may come next.

_turnbuckle() {
    local -a lines plain plain_shown open open_shown
    local line value about
    lines=("${(@f)$("${(Q)words[1]}" __complete --behind $(($#words - CURRENT)) -- "${(@)words[2,-1]}" 2>/dev/null)}")
    if [[ $lines[1] == :files ]]; then
        compset -P '*=@'
        _files
        return
    fi
    for line in $lines; do
        value=${line%%$'\t'*}
        about=${line#*$'\t'}
        [[ $line == *$'\t'* ]] && about="$value  -- $about" || about=$value
        # A name is followed by its value at once.
        if [[ $value == *= ]]; then
            open+=("$value")
            open_shown+=("$about")
        else
            plain+=("$value")
            plain_shown+=("$about")
        fi
    done
    (( $#open )) && compadd -l -S '' -d open_shown -a open
    (( $#plain )) && compadd -l -d plain_shown -a plain
}

if [[ $funcstack[1] == _turnbuckle ]]; then
    _turnbuckle "$@"
else
    compdef _turnbuckle turnbuckle
fi
